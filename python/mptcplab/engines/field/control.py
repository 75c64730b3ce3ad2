"""The client's side of the control protocol with a server."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mptcplab._core import Error
from mptcplab.engines.field.keep_alive import keep_alive
from mptcplab.engines.field.server_line import PROTOCOL, ServerLine

CONNECT_SECONDS = 15.0
# How long to wait for an answer, and for our turn.
ANSWER_SECONDS = 60.0
TURN_SECONDS = 2 * 3600.0
CHUNK_BYTES = 1 << 16
LINE_BYTES = 1 << 20
# The files that a server may send of a run, and the largest size of each.
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
        """Authenticate ourselves, and ask for the congestion controls of the runs to come."""
        hello = {"hello": PROTOCOL, "token": token}
        self.send(hello | {"congestion_controls": list(congestion_controls)})
        self.receive()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Ask for a run, and wait for our turn; returns what the server prepared."""
        self.send({"run": request})
        reply = self.receive()
        if "waiting" in reply:
            reply = self.receive(TURN_SECONDS)
        return self._table(reply, "ready")

    def ask_to_probe(self, seconds: int) -> dict[str, Any]:
        """Ask for answers to probes; gives the session's number and key, and the server's ports."""
        self.send({"probe": {"seconds": seconds}})
        return self._table(self.receive(), "ready")

    def take(self, directory: Path) -> tuple[dict[str, Any], dict[str, Any]]:
        """End our part of a run, and take the server's files.

        Returns the report of the server's agent, and who captured there.
        """
        self.send({"end": True})
        reply = self.receive()
        expected = list(FILES)
        for entry in _list(reply.get("files")):
            name, count = entry.get("name"), entry.get("bytes")
            if name not in expected or type(count) is not int or not 0 <= count <= MOST_FILE_BYTES:
                raise Error(
                    f"the server {self._line.host} offers what no run leaves: {str(entry)[:80]}"
                )
            expected.remove(name)
            with (directory / name).open("xb") as file:
                # As our own capture.
                os.fchmod(file.fileno(), 0o600)
                self._copy(count, file)
        return self._table(reply, "done"), self._table(reply, "captures")

    def send(self, line: dict[str, Any]) -> None:
        """Send a line."""
        try:
            self._sock.sendall(json.dumps(line).encode() + b"\n")
        except OSError as error:
            raise Error(f"the server {self._line.host} is gone: {_reason(error)}") from None

    def receive(self, seconds: float = ANSWER_SECONDS) -> dict[str, Any]:
        """Wait for a line."""
        self._sock.settimeout(seconds)
        try:
            line = self._file.readline(LINE_BYTES)
        except OSError as error:
            raise Error(f"the server {self._line.host} says nothing: {_reason(error)}") from None
        if not line.endswith(b"\n"):
            raise Error(f"the server {self._line.host} has closed the connection")
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise Error(f"the server {self._line.host} sent what is not a table: {line[:80]!r}")
        if "refused" in message:
            raise Error(f"the server {self._line.host} refuses: {message['refused']}")
        return message

    def _table(self, message: dict[str, Any], key: str) -> dict[str, Any]:
        found = message.get(key)
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
    """The server does not answer."""


@contextmanager
def connected(
    line: ServerLine, token: str, congestion_controls: Sequence[str] = ()
) -> Iterator[Control]:
    """Connect to a server, and check its fingerprint and whether it has these congestion controls.

    Raises:
        UnreachedError: It does not answer.
        Error: It is another one, or refuses.
    """
    with _socket(line) as tcp, authenticated(tcp, line, token, congestion_controls) as control:
        yield control


@contextmanager
def authenticated(
    tcp: socket.socket, line: ServerLine, token: str, congestion_controls: Sequence[str] = ()
) -> Iterator[Control]:
    """Start the protocol over a connection to a server, and check its fingerprint.

    Raises:
        Error: It is another one, or refuses.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # It is known by its fingerprint, and by nothing else.
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        sock = context.wrap_socket(tcp)
    except OSError as error:
        raise Error(f"{line.host} port {line.port} speaks no TLS: {_reason(error)}") from None
    with sock:
        fingerprint = hashlib.sha256(sock.getpeercert(binary_form=True) or b"").hexdigest()
        if not hmac.compare_digest(fingerprint, line.fingerprint):
            raise Error(
                f"{line.host} port {line.port} is another server than {line}: its fingerprint "
                f"is {fingerprint}"
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
        raise UnreachedError(f"there is no server {line.host}: {_reason(error)}") from None
    for family, kind, protocol, _, address in found:
        sock = socket.socket(family, kind, protocol)
        sock.settimeout(CONNECT_SECONDS)
        try:
            sock.connect(address)
        except OSError as error:
            sock.close()
            failure = error
        else:
            keep_alive(sock)
            return sock
    raise UnreachedError(f"cannot connect to {line.host} port {line.port}: {_reason(failure)}")


def _list(given: Any) -> list[dict[str, Any]]:
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []


def _reason(error: OSError | None) -> str:
    return "no address" if error is None else error.strerror or str(error)
