"""What a client sends first on a data connection and in an echo: that it holds the run's key.

A preamble is ``MPTCPLAB``, the run's 16 bytes, the connection's number, and an HMAC-SHA256 over
them. The key is drawn for the run and sent over TLS; a number is taken once, so a preamble that is
sent again opens nothing. An echo has a sequence number and a time in place of the number, and is as
long as its answer.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from dataclasses import dataclass

MAGIC = b"MPTCPLAB"
RUN_BYTES = 16
KEY_BYTES = 32
_HEAD = struct.Struct(f">8s{RUN_BYTES}sI")
MAC_BYTES = 32
PREAMBLE_BYTES = _HEAD.size + MAC_BYTES

ECHO = b"mptcpech"
ANSWER = b"mptcpans"
# Sequence number; when the client sent, the server received and the server sent, Unix time in ns.
_ECHO = struct.Struct(f">8s{RUN_BYTES}sIQQQ")
ECHO_BYTES = _ECHO.size + MAC_BYTES


def preamble(run: bytes, key: bytes, number: int) -> bytes:
    """Make that of a connection."""
    head = _HEAD.pack(MAGIC, run, number)
    return head + _mac(key, head)


def read_preamble(raw: bytes) -> tuple[bytes, int] | None:
    """Give run and number, still unproven, of what may be one."""
    if len(raw) != PREAMBLE_BYTES:
        return None
    magic, run, number = _HEAD.unpack_from(raw)
    return (run, number) if magic == MAGIC else None


def is_proven(raw: bytes, key: bytes) -> bool:
    """Whether who made it holds the key."""
    return hmac.compare_digest(_mac(key, raw[:-MAC_BYTES]), raw[-MAC_BYTES:])


@dataclass(frozen=True)
class Echo:
    """A datagram that asks for the time, or the answer."""

    run: bytes
    sequence: int
    sent_ns: int
    received_ns: int = 0
    answered_ns: int = 0

    def packed(self, key: bytes) -> bytes:
        """Give its bytes."""
        kind = ANSWER if self.received_ns else ECHO
        times = self.sent_ns, self.received_ns, self.answered_ns
        head = _ECHO.pack(kind, self.run, self.sequence, *times)
        return head + _mac(key, head)


def read_echo(raw: bytes) -> Echo | None:
    """Read what may be one; unproven."""
    if len(raw) != ECHO_BYTES:
        return None
    kind, *fields = _ECHO.unpack_from(raw)
    echo = Echo(*fields)
    return echo if kind == (ANSWER if echo.received_ns else ECHO) else None


def _mac(key: bytes, head: bytes) -> bytes:
    return hmac.digest(key, head, hashlib.sha256)
