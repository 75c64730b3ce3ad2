"""The client's side of the control protocol with a server."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
import ssl
from contextlib import contextmanager

from mptcplab._core import Error
from mptcplab.engines.field.keep_alive import keep_alive
from mptcplab.engines.field.server_line import PROTOCOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Any

    from mptcplab.engines.field.server_line import ServerLine

CONNECT_SECONDS = 15.0
# For an answer; a turn is waited for.
ANSWER_SECONDS = 60.0
TURN_SECONDS = 2 * 3600.0
CHUNK_BYTES = 1 << 16
LINE_BYTES = 1 << 20
# What a server may leave of a run, and how much of each.
FILES = ("server.samples", "server.counters", "server.pcapng")
MOST_FILE_BYTES = 1 << 31


class Control:
    """A connection to a server that knows us."""

    def __init__(self, sock: ssl.SSLSocket, line: ServerLine) -> None:
        #: Our own end.
        self.local = tuple(sock.getsockname()[:2])
        self._sock = sock
        self._file = sock.makefile("rb")
        self._line = line

    def __enter__(self) -> Control:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def greet(self, token: str, congestion_controls: Sequence[str]) -> None:
        """Say who we are, and what the server is to choose later."""
        hello = {"hello": PROTOCOL, "token": token}
        self.send(hello | {"congestion_controls": list(congestion_controls)})
        self.receive()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Ask for a run, and wait for our turn; gives what the server has ready."""
        self.send({"run": request})
        said = self.receive()
        if "waiting" in said:
            said = self.receive(TURN_SECONDS)
        return self._table(said, "ready")

    def ask_to_probe(self, seconds: int) -> dict[str, Any]:
        """Ask for answers to probes; gives the session's number and key, and the server's ports."""
        self.send({"probe": {"seconds": seconds}})
        return self._table(self.receive(), "ready")

    def take(self, directory: Path) -> tuple[dict[str, Any], dict[str, Any]]:
        """End our part of a run, and take the server's files.

        Gives what the server's agent says, and who captured there.
        """
        self.send({"end": True})
        said = self.receive()
        left = list(FILES)
        for about in _list(said.get("files")):
            name, count = about.get("name"), about.get("bytes")
            if name not in left or type(count) is not int or not 0 <= count <= MOST_FILE_BYTES:
                raise Error(
                    f"the server {self._line.host} offers what no run leaves: {str(about)[:80]}"
                )
            left.remove(name)
            with (directory / name).open("xb") as file:
                self._copy(count, file)
        return self._table(said, "done"), self._table(said, "captures")

    def send(self, line: dict[str, Any]) -> None:
        """Send a line."""
        try:
            self._sock.sendall(json.dumps(line).encode() + b"\n")
        except OSError as error:
            raise Error(f"the server {self._line.host} is gone: {_said(error)}") from None

    def receive(self, seconds: float = ANSWER_SECONDS) -> dict[str, Any]:
        """Wait for a line."""
        self._sock.settimeout(seconds)
        try:
            line = self._file.readline(LINE_BYTES)
        except OSError as error:
            raise Error(f"the server {self._line.host} says nothing: {_said(error)}") from None
        if not line.endswith(b"\n"):
            raise Error(f"the server {self._line.host} has closed the connection")
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            raise Error(f"the server {self._line.host} sent what is not a table: {line[:80]!r}")
        if "refused" in said:
            raise Error(f"the server {self._line.host} refuses: {said['refused']}")
        return said

    def _table(self, said: dict[str, Any], key: str) -> dict[str, Any]:
        found = said.get(key)
        if not isinstance(found, dict):
            raise Error(f"the server {self._line.host} does not say {key}")
        return found

    def _copy(self, left: int, file: Any) -> None:
        while left:
            block = self._file.read(min(left, CHUNK_BYTES))
            if not block:
                raise Error(f"the server {self._line.host} has closed the connection")
            left -= len(block)
            file.write(block)


class UnreachedError(Error):
    """Nobody is there."""


@contextmanager
def connected(
    line: ServerLine, token: str, congestion_controls: Sequence[str] = ()
) -> Iterator[Control]:
    """Connect to a server, and see that it is the one, and can choose these congestion controls.

    Raises:
        UnreachedError: It is not there.
        Error: It is another one, or refuses.
    """
    with _socket(line) as plain, spoken(plain, line, token, congestion_controls) as control:
        yield control


@contextmanager
def spoken(
    plain: socket.socket, line: ServerLine, token: str, congestion_controls: Sequence[str] = ()
) -> Iterator[Control]:
    """Speak over a connection to a server, and see that it is the one.

    Raises:
        Error: It is another one, or refuses.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # It is known by its fingerprint, and by nothing else.
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        sock = context.wrap_socket(plain)
    except OSError as error:
        raise Error(f"{line.host} port {line.port} speaks no TLS: {_said(error)}") from None
    with sock:
        found = hashlib.sha256(sock.getpeercert(binary_form=True) or b"").hexdigest()
        if not hmac.compare_digest(found, line.fingerprint):
            raise Error(
                f"{line.host} port {line.port} is another server than {line}: its fingerprint "
                f"is {found}"
            )
        control = Control(sock, line)
        # The file holds the socket open, too.
        with control:
            control.greet(token, congestion_controls)
            yield control


def _socket(line: ServerLine) -> socket.socket:
    """Connect to the first of its addresses that answers."""
    failure: OSError | None = None
    try:
        found = socket.getaddrinfo(line.host, line.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise UnreachedError(f"there is no server {line.host}: {_said(error)}") from None
    for family, kind, protocol, _, place in found:
        sock = socket.socket(family, kind, protocol)
        sock.settimeout(CONNECT_SECONDS)
        try:
            sock.connect(place)
        except OSError as error:
            sock.close()
            failure = error
        else:
            keep_alive(sock)
            return sock
    raise UnreachedError(f"cannot connect to {line.host} port {line.port}: {_said(failure)}")


def _list(given: Any) -> list[dict[str, Any]]:
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []


def _said(error: OSError | None) -> str:
    return "no address" if error is None else error.strerror or str(error)
