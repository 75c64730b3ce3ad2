"""Probes over loopback, and what they found over emulated links."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

import mptcplab
from experiments.probe.cases import CASES
from experiments.probe.run import KEPT
from experiments.probe.table import BEGIN, PAGE, table, wrong
from mptcplab.probe import Row, Way, data, handshake, idle, protocol, scenario, serve, syn
from mptcplab.scenario.scenario import load

TOKEN = b"a token that both ends have"
HERE = "127.0.0.1"


def free_port() -> int:
    """Give a port that is free, and the one after it very likely so."""
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        port: int = probe.getsockname()[1]
    return port if port < 65000 else port - 1000


@pytest.fixture(scope="module")
def server() -> int:
    """Serve probes, and give the port."""
    port, ready = free_port(), threading.Event()
    work = threading.Thread(
        target=serve,
        args=([port], TOKEN),
        kwargs={"address": HERE, "ready": ready.set},
        daemon=True,
    )
    work.start()
    assert ready.wait(10)
    return port


@pytest.fixture
def way(server: int) -> Way:
    return Way(HERE, HERE, server, TOKEN)


def sent_to(server: int, line: bytes) -> bytes:
    """Say a first line and ask for an echo; give all that comes until the server closes."""
    with socket.create_connection((HERE, server), timeout=10) as connection:
        connection.sendall(line + protocol.line({"do": "echo"}))
        # Who is turned away may already have been reset.
        with suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
        came = b""
        with suppress(ConnectionResetError):
            while piece := connection.recv(4096):
                came += piece
        return came


def test_nothing_is_sent_to_who_has_no_token(server: int) -> None:
    good = protocol.greeting(TOKEN)
    old = f"{protocol.NAME} {'0' * 32} {int(time.time()) - 2 * protocol.VALID_SECONDS}"
    stale = f"{old} {protocol._proof(TOKEN, old)}\n".encode()
    assert sent_to(server, good) == protocol.line({"echo": True})
    wrong_token = protocol.greeting(b"another token of that length")
    for line in (good, stale, wrong_token, b"GET / HTTP/1.0\r\n", b"\xff" * 2000 + b"\n", b"\n"):
        assert sent_to(server, line) == b""


@pytest.mark.parametrize(
    "request_",
    [{"do": "give", "bytes": 1e12}, {"do": "wait", "seconds": -1}, {"do": "take", "bytes": "many"}],
)
def test_requests_beyond_limits_end_the_connection(way: Way, request_: dict[str, object]) -> None:
    with way.connect() as connection:
        connection.socket.sendall(protocol.line(request_))
        with pytest.raises(OSError, match="closed|reset"):
            connection.read(protocol.MOST_BYTES)


def test_loopback_is_clear(way: Way) -> None:
    rows = [*handshake.syn_options(way), data.payload(way), data.windows(way)]
    rows += [data.split(way), *data.large_packets(way)]
    assert {row.probe for row in rows} >= {"MSS", "SACK", "DSCP", "NAT", "payload", "window"}
    assert [row for row in rows if row.verdict not in ("clear", "unknown")] == []


def test_a_relay_is_a_split_connection(server: int) -> None:
    """It takes what the server does not read, as proxies do."""
    with socket.create_server((HERE, 0)) as relay:
        threading.Thread(target=accept, args=(relay, server), daemon=True).start()
        row = data.split(Way(HERE, HERE, relay.getsockname()[1], TOKEN))
        assert row.verdict == "altered", row
        relay.shutdown(socket.SHUT_RDWR)


def accept(relay: socket.socket, server: int) -> None:
    """Pass on what comes over each connection, both ways."""
    with suppress(OSError):
        while True:
            near, far = relay.accept()[0], socket.create_connection((HERE, server))
            threading.Thread(target=join, args=(near, far), daemon=True).start()


def join(near: socket.socket, far: socket.socket) -> None:
    """Copy both ways until both ends are done."""

    def copy(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(65536):
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)

    with near, far:
        back = threading.Thread(target=copy, args=(far, near))
        back.start()
        copy(near, far)
        back.join()


def test_a_syn_is_read() -> None:
    """Of a Linux client, with MP_CAPABLE of version 1, as TCP_SAVED_SYN gave it."""
    ip = bytes.fromhex("4528004412340000 3f06 0000 0a000102 0a090001".replace(" ", ""))
    options = bytes.fromhex(
        "020405b4 0402080a 00000001 00000000 0103030a 1e040101".replace(" ", "")
    )
    tcp = (
        bytes.fromhex("c350 1f90 00000001 00000000 b0c2 faf0 0000 0000".replace(" ", "")) + options
    )
    read = syn.parse(ip + tcp)
    assert (read.mss, read.ttl, read.dscp, read.mp_capable) == (1460, 63, 10, True)
    assert read.asks_for_ecn
    assert read.unknown == []


@pytest.mark.parametrize(
    ("answered", "verdict", "arrived"),
    [
        ({2: True, 5: True}, "clear", "5 s"),
        ({2: True, 5: True, 8: False}, "blocked", "5 s"),
        ({2: True, 5: False, 8: True}, "unknown", ""),
        ({2: False, 5: False}, "unknown", ""),
    ],
)
def test_idle_times_are_bracketed(answered: dict[float, bool], verdict: str, arrived: str) -> None:
    row = idle._judged(Way("wifi", "", 1, b""), "idle, server speaks", answered)
    assert (row.verdict, row.arrived) == (verdict, arrived)


def test_what_was_found_over_links_is_what_stands_there() -> None:
    kept = json.loads(KEPT.read_text("utf-8"))
    assert kept.keys() == {case.name for case in CASES}
    assert wrong(kept) == []
    assert table(kept) in PAGE.read_text("utf-8").partition(BEGIN)[2]


def test_what_was_found_is_a_scenario(tmp_path: Path) -> None:
    kept = json.loads(KEPT.read_text("utf-8"))
    for case in CASES:
        rows = [Row(**row) for row in kept[case.name]]
        file = tmp_path / "found.toml"
        file.write_text(scenario.toml(rows), "utf-8")
        load(str(file), [])
        if case.found_by:
            assert scenario.elements(rows) or case.found_by == ("payload",), case.name


def test_a_short_token_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("short\n", "utf-8")
    with pytest.raises(mptcplab.Error, match="can be guessed"):
        protocol.read_token(str(tmp_path / "token"))
