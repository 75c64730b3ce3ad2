"""What connections and echoes belong to, by a key: a run, or a client's probes."""

from __future__ import annotations

import secrets

from mptcplab.engines.field import preamble

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

MOST_ECHOES = 100_000


class Session:
    """A number that connections name, and the key that proves that they may."""

    #: Whether its connections belong into a run's capture.
    captured = False

    def __init__(self) -> None:
        self.run = secrets.token_bytes(preamble.RUN_BYTES)
        self.key = secrets.token_bytes(preamble.KEY_BYTES)
        self._echoed = bytearray(MOST_ECHOES)

    def take(self, number: int, sock: socket.socket) -> bool:
        """Serve an authenticated connection, if its number is new."""
        raise NotImplementedError

    def take_http(self, number: int, sock: socket.socket, request: bytes) -> bool:
        """Answer an authenticated HTTP request."""
        del number, sock, request
        return False

    def may_echo(self, sequence: int) -> bool:
        """Accept each sequence number once."""
        if sequence >= MOST_ECHOES or self._echoed[sequence]:
            return False
        self._echoed[sequence] = 1
        return True
