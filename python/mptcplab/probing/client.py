"""A connection over one path to a server that answers probes."""

from __future__ import annotations

import errno
import json
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from mptcplab._core import Error
from mptcplab.engines.field import probe_protocol, sockets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    from mptcplab.probing.session import Session

CONNECT_SECONDS = 10.0
FAMILIES = (socket.AF_INET, socket.AF_INET6)
# There is none where the kernel has no IPv6.
IPV6 = Path("/proc/net/if_inet6")
ANSWER_SECONDS = 10.0


@dataclass(frozen=True)
class ProbedPath:
    """A path to the server: an interface or an address of this host; empty: the default route."""

    name: str
    session: Session

    @property
    def port(self) -> int:
        """The port that most probes go to."""
        return self.session.tcp_ports[0]

    def connect(self, **options: Any) -> Connection:
        """Open a connection and authenticate it. Raises OSError."""
        return Connection(self, **options)

    def socket(self, port: int, **options: Any) -> tuple[socket.socket, float]:
        """Connect to the first of the server's addresses that answers; and how long it took, in ms.

        Raises OSError.
        """
        failure = OSError("the server has no address")
        found = socket.getaddrinfo(self.session.host, port, type=socket.SOCK_STREAM)
        for family, _, _, _, address in found:
            try:
                return _connected(self.name, family, address, **options)
            except OSError as error:
                failure = error
        raise failure


class Connection:
    """An authenticated connection."""

    def __init__(self, path: ProbedPath, *, port: int | None = None, **options: Any) -> None:
        self.socket, self.connect_ms = path.socket(port or path.port, **options)
        try:
            self.socket.settimeout(ANSWER_SECONDS)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.socket.sendall(path.session.preamble())
        except BaseException:
            self.socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    @property
    def headers_bytes(self) -> int:
        """Bytes of the headers of IP and TCP, without options."""
        return 60 if self.is_ipv6 else 40

    @property
    def is_ipv6(self) -> bool:
        """Whether it goes by IPv6."""
        remote = str(self.socket.getpeername()[0])
        return ":" in remote and not remote.startswith("::ffff:")

    def ask(self, do: str, *, payload: bytes = b"", **what: object) -> dict[str, Any]:
        """Send a request and its payload, and wait for the answer. Raises OSError."""
        self.socket.sendall(probe_protocol.line({"do": do, **what}) + payload)
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """Wait for an answer. Raises OSError."""
        line = b""
        while not line.endswith(b"\n"):
            byte = self.socket.recv(1)
            if not byte:
                raise ConnectionResetError("closed")
            line += byte
        try:
            answer = json.loads(line)
        except ValueError as error:
            raise OSError("the answer was altered on the way") from error
        if not isinstance(answer, dict):
            raise OSError("the answer was altered on the way")
        return answer

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
    return any(_is_of(family, name) for family in FAMILIES)


def need(name: str) -> None:
    """Refuse a name that is no interface and no address of this host.

    Raises:
        Error: It is none.
    """
    family = next((one for one in FAMILIES if _is_of(one, name)), None)
    if family is None:
        try:
            socket.if_nametoindex(name)
        except OSError:
            raise Error(f"there is no interface {name}") from None
        return
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        try:
            sock.bind((name, 0))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise Error(f"{name} is no address of this host") from None


def _is_of(family: socket.AddressFamily, name: str) -> bool:
    try:
        socket.inet_pton(family, name)
    except OSError:
        return False
    return True


def _connected(
    name: str,
    family: socket.AddressFamily,
    address: Any,
    *,
    mptcp: bool = False,
    mapped: bool = False,
    mss: int | None = None,
    tos: int | None = None,
    keep_alive: int | None = None,
    local_port: int = 0,
) -> tuple[socket.socket, float]:
    protocol = socket.IPPROTO_MPTCP if mptcp else 0
    if mapped and family == socket.AF_INET and not is_address(name) and IPV6.exists():
        # As the field engine's agent does it where paths have different versions of IP.
        family, address = socket.AF_INET6, (f"::ffff:{address[0]}", address[1])
    sock = socket.socket(family, socket.SOCK_STREAM, protocol)
    try:
        sock.settimeout(CONNECT_SECONDS)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_address(name):
            if not _is_of(family, name):
                raise OSError(f"the server has no address of the family of {name}")
            sock.bind((name, local_port))
        else:
            if name:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, name.encode())
            if local_port:
                sock.bind(("", local_port))
        if mss:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, mss)
        if tos is not None:
            sock.setsockopt(*sockets.traffic_class(family), tos)
        if keep_alive:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL):
                sock.setsockopt(socket.IPPROTO_TCP, option, keep_alive)
        began = time.perf_counter()
        sock.connect(address)
    except BaseException:
        sock.close()
        raise
    return sock, (time.perf_counter() - began) * 1000
