"""``mptcplab serve`` as tests run it: a process of its own at this host's loopback."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mptcplab.engines.field import control, preamble, server_line

HOST = "127.0.0.1"
TIMEOUT_SECONDS = 30
# Between the choice of a port and its use nobody else is to come by it: the kernel gives these to
# no connection by itself (it begins at 32768), and processes that test side by side begin apart.
_PORTS = (20_000 + (100 * os.getpid() + 2 * number) % 10_000 for number in itertools.count())
REQUEST = {
    "transfer": {"application": "bulk", "direction": "down", "size_bytes": 100_000},
    "congestion_control": None,
    "sample_ns": 0,
    "stop_ns": 20 * 10**9,
    "captures": "none",
}


class Server:
    """One that runs, and how to come to it."""

    def __init__(self, process: subprocess.Popen[str], state: Path, said: str) -> None:
        self.process = process
        #: What it printed as JSON, if it was asked to.
        self.said: dict[str, Any] = json.loads(said) if said.startswith("{") else {}
        line = self.said.get("line", said)
        self.state = state
        self.line = server_line.read(line)
        self.token = server_line.token(str(state / "token"))

    def connect(self) -> socket.socket:
        """Connect to it as anybody may."""
        return socket.create_connection((HOST, self.line.port), TIMEOUT_SECONDS)

    def transfer(self) -> bytes:
        """Have it serve a run, to see that it still does."""
        with control.connected(self.line, self.token) as connection:
            ready = connection.ask(REQUEST)
            run_, key = bytes.fromhex(ready["run"]), bytes.fromhex(ready["key"])
            with self.connect() as sock:
                sock.sendall(preamble.preamble(run_, key, 0))
                sock.shutdown(socket.SHUT_WR)
                came = everything(sock)
            # The run is over when it has been settled.
            connection.send({"end": True})
            connection.receive()
            return came

    def resident_bytes(self) -> int:
        """Give its memory."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


def everything(sock: socket.socket) -> bytes:
    """Read until the end; of what is reset nothing."""
    came = b""
    with contextlib.suppress(ConnectionResetError):
        while block := sock.recv(1 << 16):
            came += block
    return came


def free_port() -> int:
    """Give a port that is free for TCP and UDP, as is the one after it, which answers probes."""
    return next(port for port in _PORTS if _is_free(port) and _is_free(port + 1))


def _is_free(port: int) -> bool:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(type=kind) as sock:
            try:
                sock.bind((HOST, port))
            except OSError:
                return False
    return True


@contextlib.contextmanager
def serving(directory: Path, *options: str, address: str = HOST, ends: int = 0) -> Iterator[Server]:
    """Serve at a free port, until it ends with this status."""
    port = free_port()
    command = [sys.executable, "-m", "mptcplab", "serve", "--name", HOST, "--address", address]
    arguments = [*command, "--port", str(port), "--state", str(directory / "state"), *options]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Server(process, directory / "state", process.stdout.readline().strip())
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(TIMEOUT_SECONDS) == ends
