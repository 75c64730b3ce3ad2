"""Many, slow and hostile clients of ``mptcplab serve``: none keeps the others waiting."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mptcplab import Error
from mptcplab.engines.field import control, preamble
from mptcplab.engines.field.server.control import Control
from mptcplab.engines.field.server.limits import Ledger, Limits
from mptcplab.engines.field.server.listeners import CLOSED, Client, Listeners
from mptcplab.engines.field.server.serve import summed_up
from serving import HOST, REQUEST, TIMEOUT_SECONDS, Server, everything, free_port, serving

LIMITS = Limits()
ADDRESSES = [f"127.0.1.{number}" for number in range(1, 13)]
# What a connection may hold: asyncio's buffer of TLS (256 KiB), lines, and OpenSSL's part.
MOST_BYTES = LIMITS.unauthenticated * (512 << 10)
# Of a thousand that have gone nothing stays: 8 kB of each would be seen.
STAYS_BYTES = 8 << 20


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("serve")) as made:
        yield made


def test_thousands_without_a_token_leave_it_as_it_was(server: Server) -> None:
    """Half-open, silent, slow: none of them gets a byte, and runs go on."""
    before = server.resident_bytes()
    grown = []
    for _ in range(2):
        _come_unauthenticated(server)
        assert len(server.transfer()) == 100_000
        grown.append(server.resident_bytes() - before)
    assert max(grown) < MOST_BYTES
    # The first thousand have it take what it needs, and the others no more.
    assert grown[1] - grown[0] < STAYS_BYTES


# Where the server is faster than the handshake, `ssl` leaves its socket open.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_those_who_speak_tls_have_no_more_places_than_others(server: Server) -> None:
    """None of them has shown a token, however well each has shaken hands."""
    before = server.resident_bytes()
    with contextlib.ExitStack() as held:
        came = [(address, _speak_tls(server, address, held)) for address in ADDRESSES * 40]
        # Those who came early may have had their time already.
        there = Counter(address for address, sock in came if sock and _is_open(sock))
    assert 0 < there.total() <= LIMITS.unauthenticated
    assert max(there.values()) <= LIMITS.unauthenticated_of_one
    # Places are free again as soon as those who had them have gone.
    _until(lambda: _is_welcome(server))
    assert len(server.transfer()) == 100_000
    assert server.resident_bytes() - before < MOST_BYTES


def _speak_tls(server: Server, address: str, held: contextlib.ExitStack) -> ssl.SSLSocket | None:
    """Speak TLS from this address, and stay."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        plain = socket.create_connection((HOST, server.line.port), TIMEOUT_SECONDS, (address, 0))
        sock = context.wrap_socket(plain, do_handshake_on_connect=False)
    except OSError:
        return None
    held.enter_context(sock)
    try:
        sock.do_handshake()
    except OSError:
        return None
    return sock


def _is_open(sock: ssl.SSLSocket) -> bool:
    """Whether the server, which has nothing to say, has not closed it either."""
    sock.setblocking(False)
    try:
        sock.recv(1)
    except ssl.SSLWantReadError:
        return True
    except OSError:
        return False
    return False


def test_who_reads_nothing_takes_no_memory_and_keeps_nobody_waiting(tmp_path: Path) -> None:
    """Of 500 MB no more is sent than fits into what the kernel holds for a connection."""
    with serving(tmp_path) as idle:
        before = idle.resident_bytes()
        large = REQUEST["transfer"] | {"size_bytes": 500 * 10**6}  # type: ignore[operator]
        with control.connected(idle.line, idle.token) as connection, idle.connect() as sock:
            ready = connection.ask(REQUEST | {"transfer": large, "stop_ns": 2 * 10**9})
            sock.sendall(_proof(ready))
            connection.send({"end": True})
            assert connection.receive()["done"]["finished"] is False
            assert len(idle.transfer()) == 100_000
        assert idle.resident_bytes() - before < STAYS_BYTES


def test_who_reads_slowly_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run's files are handed back when the next one's turn has come."""
    runs: list[object] = []

    async def run_(*_: object) -> object:
        runs.append(object())
        return runs[-1]

    async def both() -> None:
        reads = asyncio.Event()

        async def send_files(*_: object) -> None:
            await reads.wait()

        served = Control("token-of-a-test", LIMITS, Ledger(tmp_path / "served.json"))
        monkeypatch.setattr(served, "_run", run_)
        monkeypatch.setattr("mptcplab.engines.field.server.control._send_files", send_files)
        nobody: Any = None
        turns = [
            asyncio.ensure_future(served._in_turn(nobody, asyncio.StreamReader(), nobody, nobody))
            for _ in range(2)
        ]
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while len(runs) < 2:
                await asyncio.sleep(0)
        reads.set()
        await asyncio.gather(*turns)

    asyncio.run(both())


def test_who_waits_and_goes_is_forgotten(tmp_path: Path) -> None:
    with serving(tmp_path, "--clients", "2") as small, contextlib.ExitStack() as held:
        first = held.enter_context(control.connected(small.line, small.token))
        ready = first.ask(REQUEST)
        for _ in range(3):
            with control.connected(small.line, small.token) as waits:
                waits.send({"run": REQUEST})
                assert "waiting" in waits.receive()
            # Its place is free again before the first run is over.
            _until(lambda: _is_welcome(small))
        _run(small, ready)


def _is_welcome(server: Server) -> bool:
    try:
        with control.connected(server.line, server.token):
            return True
    except Error:
        return False


def _until(true: Callable[[], bool]) -> None:
    until = time.monotonic() + TIMEOUT_SECONDS
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)


def _proof(ready: dict[str, Any]) -> bytes:
    """Give the preamble of a run's connection."""
    run_, key = bytes.fromhex(ready["run"]), bytes.fromhex(ready["key"])
    return preamble.preamble(run_, key, 0)


def _run(server: Server, ready: dict[str, Any]) -> bytes:
    with server.connect() as sock:
        sock.sendall(_proof(ready))
        sock.shutdown(socket.SHUT_WR)
        return everything(sock)


def test_who_waited_together_is_counted_too() -> None:
    """All that came while the server was busy are accepted in one go."""

    async def come() -> int:
        limits = Limits(unauthenticated_of_one=4)
        listeners = Listeners(limits, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), _serve_nobody)
        with contextlib.ExitStack() as held:
            port = free_port()
            listeners.open(HOST, port)
            for _ in range(20):
                held.enter_context(socket.create_connection((HOST, port), TIMEOUT_SECONDS))
            while len(listeners.others) < 20:
                await asyncio.sleep(0)
            await listeners.close()
        return listeners.turned_away["too many at once"]

    assert asyncio.run(come()) == 16


def _come_unauthenticated(server: Server) -> None:
    with contextlib.ExitStack() as held:
        socks = []
        for _ in range(300):
            # Who is turned away may hear it before connect returns.
            with contextlib.suppress(ConnectionResetError):
                socks.append(held.enter_context(server.connect()))
        for number, sock in enumerate(socks):
            with contextlib.suppress(OSError):
                sock.send([b"\x16\x03", b"M", b"MPTCPLAB" + bytes(20), b""][number % 4])
        # Most are turned away at once, the rest when their time is over.
        for sock in socks:
            assert everything(sock) == b""
    for _ in range(700):
        with contextlib.suppress(ConnectionResetError):
            server.connect().close()


def test_whatever_is_said_over_tls_it_goes_on(server: Server) -> None:
    chance = random.Random(1)
    hello = json.dumps({"hello": 1, "token": server.token}).encode()
    lines = [
        b"",
        b"\n",
        b"[" * 60_000 + b"\n",
        b"x" * 200_000,
        b'{"token": 5}\n',
        b'{"hello": 2, "token": "' + server.token.encode() + b'"}\n',
        hello + b'\n{"run": []}\n',
        hello + b"\n" + b'{"run": {"transfer": {"application": "sh"}}}\n',
        *(chance.randbytes(chance.randrange(1, 300)) + b"\n" for _ in range(5)),
        *(hello + b"\n" + chance.randbytes(80) + b"\n" for _ in range(5)),
        *(_mutated(hello, chance) + b"\n" for _ in range(5)),
    ]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    for line in lines:
        with (
            contextlib.suppress(OSError),
            server.connect() as plain,
            context.wrap_socket(plain) as sock,
        ):
            sock.sendall(line)
            sock.settimeout(0.05)
            sock.recv(1 << 16)
    assert len(server.transfer()) == 100_000


@pytest.mark.parametrize(
    "ask", [lambda client: client.ask(REQUEST), lambda client: client.ask_to_probe(20)]
)
def test_whatever_is_said_during_a_run_it_goes_on(
    server: Server, ask: Callable[[control.Control], object]
) -> None:
    """By one that has the token, once the server waits for its end."""
    chance = random.Random(2)
    end = b'{"end": true}'
    for line in (b"[]", b"{" * 70_000, _mutated(end, chance)):
        with control.connected(server.line, server.token) as connection:
            # The run before may be ending yet, and this one wait for its turn.
            ask(connection)
            connection._sock.sendall(line + b"\n")
            # Closed, or a word that means nothing was let pass.
            with contextlib.suppress(Error):
                assert connection.receive().keys() <= {"alive", "done", "files", "captures"}
    assert len(server.transfer()) == 100_000


def _mutated(line: bytes, chance: random.Random) -> bytes:
    offset = chance.randrange(len(line))
    return line[:offset] + bytes([chance.randrange(256)]) + line[offset + 1 :]


def test_a_thousand_clients_are_served_or_refused_and_gone(tmp_path: Path) -> None:
    """All of them have the token; some wait and go, some stay and read nothing."""
    with serving(tmp_path, "--clients", "8") as busy, contextlib.ExitStack() as held:
        before = busy.resident_bytes()
        first = held.enter_context(control.connected(busy.line, busy.token))
        ready = first.ask(REQUEST | {"stop_ns": 1000 * 10**9})
        came = [_come_and_go(busy, number, held) for number in range(1000)]
        # Seven stay beside the first.
        assert came.count("stays") == 7
        assert came.count("refused") > 500
        assert len(_run(busy, ready)) == 100_000
        held.close()
        _until(lambda: _is_welcome(busy))
        assert len(busy.transfer()) == 100_000
        assert busy.resident_bytes() - before < MOST_BYTES


def _come_and_go(server: Server, number: int, held: contextlib.ExitStack) -> str:
    try:
        with contextlib.ExitStack() as mine:
            connection = mine.enter_context(control.connected(server.line, server.token))
            # Who stays waits for a turn: who asked for nothing would have to go after a while.
            if number % 3 or not number % 5:
                connection.send({"run": REQUEST})
            if number % 5:
                return "goes"
            held.push(mine.pop_all())
            return "stays"
    except Error:
        return "refused"


def test_a_connection_whose_end_is_forgotten_is_handed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """More others came in between than are remembered."""
    monkeypatch.setattr("mptcplab.engines.field.server.listeners.MOST_OTHERS", 2)
    listeners = Listeners(LIMITS, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), _serve_nobody)
    for port in (1, 2, 3, 2, 4):
        listeners._remember((HOST, port))
    assert list(listeners.others) == [(HOST, 2), (HOST, 4)]


async def _serve_nobody(client: Client, proven: Callable[[], None]) -> None:
    raise AssertionError("nobody spoke TLS")


def test_who_was_turned_away_is_told_in_a_line() -> None:
    text = summed_up(Counter({"too many at once": 3, "broke off": 1}))
    assert text == "4 connections were turned away: 3 too many at once, 1 broke off"
    assert summed_up(Counter()) == ""
    # Whether a port is open others find out so: nobody was turned away.
    tried = {CLOSED: 1, "broke off": 1}
    assert summed_up(Counter({CLOSED: 2})) == f"2 connections were {CLOSED}"
    assert summed_up(Counter(tried)) == (
        f"1 connection was turned away: 1 broke off; 1 connection was {CLOSED}"
    )
