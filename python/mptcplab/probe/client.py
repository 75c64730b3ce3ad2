"""A connection over one path to the server of probes."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass

from mptcplab.probe import kernel, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 10.0


@dataclass(frozen=True)
class Way:
    """A path to the server: an interface or an address of this host; empty: the default route."""

    name: str
    host: str
    port: int
    token: bytes

    def connect(self, **options: Any) -> Connection:
        """Open a connection and say who asks. Raises OSError."""
        return Connection(self, **options)


class Connection:
    """A connection that may ask."""

    def __init__(
        self,
        way: Way,
        *,
        port: int | None = None,
        mptcp: bool = False,
        mss: int | None = None,
        tos: int | None = None,
        keep_alive: int | None = None,
        local_port: int = 0,
    ) -> None:
        kind = socket.SOCK_STREAM
        [(family, _, _, _, place), *_] = socket.getaddrinfo(way.host, port or way.port, type=kind)
        self.socket = socket.socket(family, kind, kernel.IPPROTO_MPTCP if mptcp else 0)
        try:
            self._prepare(way, family, mss, tos, keep_alive, local_port)
            began = time.perf_counter()
            self.socket.connect(place)
            self.connect_ms = (time.perf_counter() - began) * 1000
            self.socket.settimeout(ANSWER_SECONDS)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.socket.sendall(protocol.greeting(way.token))
        except BaseException:
            self.socket.close()
            raise

    def _prepare(
        self,
        way: Way,
        family: int,
        mss: int | None,
        tos: int | None,
        keep_alive: int | None,
        local_port: int,
    ) -> None:
        made = self.socket
        made.settimeout(CONNECT_SECONDS)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_address(way.name):
            made.bind((way.name, local_port))
        else:
            if way.name:
                made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, way.name.encode())
            if local_port:
                made.bind(("", local_port))
        if mss:
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, mss)
        if tos is not None:
            v6 = family == socket.AF_INET6
            level, name = (
                (socket.IPPROTO_IPV6, socket.IPV6_TCLASS)
                if v6
                else (socket.IPPROTO_IP, socket.IP_TOS)
            )
            made.setsockopt(level, name, tos)
        if keep_alive:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL):
                made.setsockopt(socket.IPPROTO_TCP, option, keep_alive)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def ask(self, do: str, *, payload: bytes = b"", **what: object) -> dict[str, Any]:
        """Ask, send what the request announces, and wait for the answer. Raises OSError."""
        self.socket.sendall(protocol.line({"do": do, **what}) + payload)
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """Wait for an answer. Raises OSError."""
        read = b""
        while not read.endswith(b"\n"):
            byte = self.socket.recv(1)
            if not byte:
                raise ConnectionResetError("closed")
            read += byte
        try:
            found: dict[str, Any] = json.loads(read)
        except ValueError as error:
            raise OSError("the answer was altered on the way") from error
        return found

    def read(self, count: int) -> bytes:
        """Read so many bytes. Raises OSError."""
        pieces = bytearray()
        while len(pieces) < count:
            piece = self.socket.recv(min(count - len(pieces), 65536))
            if not piece:
                raise ConnectionResetError("closed")
            pieces += piece
        return bytes(pieces)


def is_address(name: str) -> bool:
    """Say whether a path is named by an address."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, name)
        except OSError:
            continue
        return True
    return False
