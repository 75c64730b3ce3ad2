"""The program that converts between TCP and MPTCP, between sockets of this machine's Linux."""

from __future__ import annotations

import hashlib
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from mptcplab._core import Namespace
from mptcplab.cli.main import main
from mptcplab.engines.kernel.namespace import inside, ip, set_sysctls
from mptcplab.machine import programs
from requirements import need_root

SERVER = "10.1.0.1"
SECONDS = 30
DATA = os.urandom(3_000_000)
# Closed with a reset.
AT_ONCE = struct.pack("ii", 1, 0)
# Messages of RFC 8803 §6, in part.
INFO = "01022263 01010000"
CONNECT = "01062263 0a05"
MAPPED = "00000000000000000000ffff"


@pytest.fixture(autouse=True)
def network() -> Iterator[None]:
    """A network without anybody else, whose sockets are ours to make."""
    need_root()
    made = Namespace()
    with inside(made.fileno()):
        # Fast Open without cookies, so that requests are in SYNs.
        set_sysctls({"net.ipv4.tcp_fastopen": 0x607, "net.mptcp.enabled": 1})
        ip(["link set lo up", f"address add {SERVER}/32 dev lo"])
        yield


class Converter:
    """The program, started with these words."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [programs.converter(), *arguments, "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        begins = self.process.stderr.readline()
        assert "listens on" in begins, begins
        host, _, port = begins.split()[3].rstrip(",").rpartition(":")
        self.address = host.strip("[]"), int(port)
        self.text = f"{host}:{port}"

    def __enter__(self) -> Converter:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        said = self.process.communicate(timeout=SECONDS)[1]
        assert self.process.returncode == 0, said


def at_server(*arguments: str) -> Converter:
    anybody = (
        [] if {"--to", "--transparent", "--allow"} & {*arguments} else ["--allow", "0.0.0.0/0"]
    )
    return Converter("server", "--listen", f"{SERVER}:0", *anybody, *arguments)


def at_client(server: tuple[str, int], *arguments: str) -> Converter:
    return Converter(
        "client", "--listen", "127.0.0.1:0", "--to", f"{server[0]}:{server[1]}", *arguments
    )


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A server's socket, from which tests take connections."""
    with socket.create_server((SERVER, 0)) as made:
        made.settimeout(SECONDS)
        yield made


class Hashing:
    """A server that reads to the end, answers with the hash of it and ``answer``, and ends."""

    def __init__(self, answer: bytes = b"") -> None:
        self._answer = answer
        self._listener = socket.create_server((SERVER, 0), backlog=1000)
        self.address = self._listener.getsockname()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                taken, _ = self._listener.accept()
                threading.Thread(target=self._answers, args=(taken,), daemon=True).start()

    def _answers(self, taken: socket.socket) -> None:
        with taken:
            taken.sendall(hashlib.sha256(read(taken)).digest() + self._answer)


def read(connection: socket.socket) -> bytes:
    parts = []
    while part := connection.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


def exchanged(address: tuple[str, int], data: bytes) -> bytes:
    with socket.create_connection(address, SECONDS) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        return read(connection)


def counted(group: str, name: str) -> int:
    lines = Path("/proc/thread-self/net/netstat").read_text("ascii").splitlines()
    names, values = (line.split() for line in lines if line.startswith(f"{group}:"))
    return int(values[names.index(name)])


@pytest.mark.parametrize("arguments", [(), ("--cookies",)], ids=["open", "cookies"])
def test_all_arrives_as_it_was_sent(arguments: tuple[str, ...]) -> None:
    server = Hashing(DATA[::-1])
    with at_server(*arguments) as far, at_client(server.address, "--converter", far.text) as near:
        for data in (DATA, b"", b"short"):
            assert exchanged(near.address, data) == hashlib.sha256(data).digest() + DATA[::-1]
    # It was MPTCP in between, and the requests were in the SYNs.
    tries = 3 if not arguments else 4
    assert counted("MPTcpExt", "MPCapableSYNRX") == tries
    assert counted("MPTcpExt", "MPCapableFallbackACK") == 0
    assert counted("TcpExt", "TCPFastOpenPassive") == tries


def test_without_fast_open_it_takes_a_round_trip_more() -> None:
    set_sysctls({"net.ipv4.tcp_fastopen": 0})
    server = Hashing()
    with at_server() as far, at_client(server.address, "--converter", far.text) as near:
        assert exchanged(near.address, DATA) == hashlib.sha256(DATA).digest()
    assert counted("TcpExt", "TCPFastOpenPassive") == 0


def test_one_converter_is_of_use_alone() -> None:
    server = Hashing()
    with at_server("--to", f"{SERVER}:{server.address[1]}") as far:
        assert exchanged(far.address, DATA) == hashlib.sha256(DATA).digest()
        with at_client(far.address) as near:
            assert exchanged(near.address, DATA) == hashlib.sha256(DATA).digest()
    assert counted("MPTcpExt", "MPCapableSYNRX") == 1


def test_hundreds_at_once() -> None:
    server = Hashing()
    data = DATA[:100_000]
    with at_server() as far, at_client(server.address, "--converter", far.text) as near:
        open_ = [socket.create_connection(near.address, SECONDS) for _ in range(300)]
        for connection in open_:
            connection.sendall(data)
        for connection in open_:
            connection.shutdown(socket.SHUT_WR)
        for connection in open_:
            with connection:
                assert read(connection) == hashlib.sha256(data).digest()


def test_open_files_are_as_many_as_connections_need() -> None:
    few = "import os, resource, sys; limits = 64, 4096; resource.setrlimit(7, limits); "
    become = few + "os.execv(sys.argv[1], sys.argv[1:])"
    arguments = [programs.converter(), "client", "--listen", "127.0.0.1:0", "--to", f"{SERVER}:1"]
    process = subprocess.Popen([sys.executable, "-c", become, *arguments], stderr=subprocess.PIPE)
    assert process.stderr is not None
    with process.stderr:
        assert b"listens on" in process.stderr.readline()
        assert resource.prlimit(process.pid, resource.RLIMIT_NOFILE) == (2064, 4096)
    # Nobody reads what it says at its end.
    process.terminate()
    assert process.wait(SECONDS) == 0


def test_whoever_reads_slowly_is_waited_for(listener: socket.socket) -> None:
    with at_server() as far, at_client(listener.getsockname(), "--converter", far.text) as near:
        client = socket.create_connection(near.address, SECONDS)
        taken, _ = listener.accept()
        with client, taken:
            taken.setblocking(False)
            sent = quiet = 0
            # Until nothing moves for half a second: buffers of all are full.
            while True:
                try:
                    sent += taken.send(DATA)
                    quiet = 0
                except BlockingIOError:
                    quiet += 1
                    if quiet == 10:
                        break
                    threading.Event().wait(0.05)
            assert sent < 100_000_000
            taken.shutdown(socket.SHUT_WR)
            received = 0
            while part := client.recv(1 << 20):
                received += len(part)
            assert received == sent


@pytest.mark.parametrize(
    ("port", "arguments"),
    [
        (5124, ("--transparent",)),
        (5125, ("--to", f"{SERVER}:5125")),
        (5126, ("--transparent", "--converter", f"{SERVER}:5126")),
    ],
)
def test_none_converts_its_own_connections(port: int, arguments: tuple[str, ...]) -> None:
    with Converter("client", "--listen", f"0.0.0.0:{port}", *arguments) as near:
        # The reset may come while it is still connecting.
        with (
            pytest.raises(ConnectionResetError),
            socket.create_connection((SERVER, port), SECONDS) as client,
        ):
            client.recv(1)
        assert near.process.stdout is not None
        assert "it would come in here again" in near.process.stdout.readline()


@pytest.mark.parametrize("resets", ["client", "server"])
def test_a_reset_is_one_at_the_other_end(resets: str, listener: socket.socket) -> None:
    with at_server() as far, at_client(listener.getsockname(), "--converter", far.text) as near:
        client = socket.create_connection(near.address, SECONDS)
        client.sendall(b"begun")
        server, _ = listener.accept()
        server.settimeout(SECONDS)
        assert server.recv(5) == b"begun"
        gone, left = (client, server) if resets == "client" else (server, client)
        gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        gone.close()
        # No end of data: that would be taken for all of it.
        with pytest.raises(ConnectionResetError), left:
            left.recv(1)


def test_the_end_of_the_program_is_no_end_of_data(listener: socket.socket) -> None:
    with at_server("--to", f"{SERVER}:{listener.getsockname()[1]}") as far:
        client = socket.create_connection(far.address, SECONDS)
        server, _ = listener.accept()
    for left in (client, server):
        left.settimeout(SECONDS)
        with pytest.raises(ConnectionResetError), left:
            left.recv(1)


def answered(converter: Converter, request: str) -> str:
    with socket.create_connection(converter.address, SECONDS) as connection:
        connection.sendall(bytes.fromhex(request))
        connection.shutdown(socket.SHUT_WR)
        return read(connection).hex(" ", 4)


def connect(address: str, port: int) -> str:
    return f"{CONNECT} {port:04x} {MAPPED} {socket.inet_aton(address).hex()}"


def test_every_error_is_told(listener: socket.socket) -> None:
    with socket.create_server((SERVER, 0)) as gone:
        nobody = gone.getsockname()[1]
    ip(
        [
            "route add unreachable 10.2.0.1",
            "route add blackhole 10.3.0.1",
            "route add prohibit 10.4.0.1",
        ]
    )
    with at_server() as far:
        assert answered(far, INFO) == "01032263 15020000 1e000000"
        for request, error in [
            ("02012263", "01022263 1e010001"),
            ("47455420 2f20485454502f312e31", "01032263 1e020147 45542000"),
            (connect("127.0.0.1", 80), f"01082263 1e070101 {_shifted(connect('127.0.0.1', 80))}"),
            ("01022263 63010000", "01042263 1e030201 02226363 01000000"),
            (
                connect(*far.address),
                f"01082263 1e070101 {_shifted(connect(*far.address))}",
            ),
            (connect(SERVER, nobody), "01022263 1e016000"),
            (connect("10.2.0.1", 80), "01022263 1e016101"),
            # There is no route.
            (connect("10.5.0.1", 80), "01022263 1e016100"),
            (connect("10.4.0.1", 80), "01022263 1e012000"),
            (connect("10.3.0.1", 80), "01022263 1e014100"),
            ("01072263 0a060050" + MAPPED + "0a010001 1d021e02", "01022263 1e01211d"),
        ]:
            assert answered(far, request) == error, request
    with at_server("--allow", "192.0.2.0/24") as far:
        assert answered(far, connect(SERVER, nobody)) == "01022263 1e012000"
    with at_server("--cookies") as far:
        answer = answered(far, connect(SERVER, nobody))
        assert answer.startswith("01042263 1e030300 ")
        cookie = answer.removeprefix("01042263 1e030300 ")
        with_cookie = f"01092263 16030000 {cookie} {connect(SERVER, nobody)[8:]}"
        assert answered(far, with_cookie) == "01022263 1e016000"
        wrong = f"01092263 16030000 00000000 00000000 {connect(SERVER, nobody)[8:]}"
        assert answered(far, wrong) == "01022263 1e012000"
    with (
        at_server("--connections", "1") as far,
        socket.create_connection(far.address, SECONDS) as first,
    ):
        first.sendall(bytes.fromhex(connect(*listener.getsockname())))
        # It says with which options the server answered: the size of segments.
        assert first.recv(12).hex(" ", 4).startswith("01032263 14020000 0204")
        assert answered(far, connect(SERVER, nobody)) == "01022263 1e014000"


def test_a_message_without_length_is_reset() -> None:
    with at_server() as far, socket.create_connection(far.address, SECONDS) as connection:
        connection.sendall(bytes.fromhex("01002263"))
        with pytest.raises(ConnectionResetError):
            connection.recv(1)


def test_another_cookie_is_asked_for_when_the_converter_began_anew() -> None:
    server = Hashing()
    with at_server("--cookies") as far:
        address = far.text
        with at_client(server.address, "--converter", address) as near:
            assert exchanged(near.address, b"once") == hashlib.sha256(b"once").digest()
            far.process.terminate()
            far.process.wait(SECONDS)
            arguments = ("--listen", address, "--allow", "0.0.0.0/0", "--cookies")
            with Converter("server", *arguments):
                assert exchanged(near.address, b"again") == hashlib.sha256(b"again").digest()


def test_a_connection_on_which_nothing_moves_is_reset(listener: socket.socket) -> None:
    with (
        at_server("--to", f"{SERVER}:{listener.getsockname()[1]}", "--idle", "1") as far,
        socket.create_connection(far.address, SECONDS) as client,
    ):
        with pytest.raises(ConnectionResetError):
            client.recv(1)
        assert far.process.stdout is not None
        assert "nothing moved for 1 s" in far.process.stdout.readline()


def _shifted(request: str) -> str:
    """Give a message as an Error TLV repeats it, behind the first byte of its value."""
    repeated = bytes.fromhex(request)[1:]
    return (repeated + bytes(-len(repeated) % 4)).hex(" ", -4)


def test_what_the_server_refuses_the_client_hears() -> None:
    with socket.create_server((SERVER, 0)) as gone:
        address = gone.getsockname()
    with (
        at_server() as far,
        at_client(address, "--converter", far.text) as near,
        socket.create_connection(near.address, SECONDS) as client,
    ):
        with pytest.raises(ConnectionResetError):
            client.recv(1)
        assert near.process.stdout is not None
        assert "the converter says: Connection Reset (96)" in near.process.stdout.readline()


CLIENT = ("client", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1")


@pytest.mark.parametrize(
    ("arguments", "refused"),
    [
        (["client", "--listen", "127.0.0.1:0"], "client needs --to ADDRESS:PORT or --transparent"),
        (
            [*CLIENT, "--congestion-control", "none"],
            "this kernel has no congestion control none",
        ),
        (
            ["server", "--listen", "127.0.0.1:0"],
            "server needs --to ADDRESS:PORT, --transparent, or",
        ),
        (
            ["client", "--listen", "192.0.2.9:1", "--to", "192.0.2.9:2"],
            "cannot listen on 192.0.2.9:1: Cannot assign",
        ),
    ],
)
def test_mistakes_are_told_in_a_line(arguments: list[str], refused: str) -> None:
    done = subprocess.run(
        [programs.converter(), *arguments], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"mptcplab-convert: {refused}")


def test_the_command_becomes_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    began: list[list[str]] = []

    def becomes(_: str, arguments: list[str]) -> None:
        began.append(arguments)
        raise SystemExit

    monkeypatch.setattr(os, "execv", becomes)
    arguments = [
        "server",
        "--listen",
        "[::]:5124",
        "--congestion-control",
        "reno",
        "--connections",
        "9",
        "--idle",
        "60",
        "--allow",
        "10.0.0.0/8",
    ]
    with pytest.raises(SystemExit):
        main(["convert", *arguments, "--cookies", "--json"])
    assert began == [[programs.converter(), *arguments, "--cookies", "--json"]]
