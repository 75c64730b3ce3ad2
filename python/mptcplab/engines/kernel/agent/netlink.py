"""Netlink: messages and their attributes (RFC 3549; linux/netlink.h, linux/genetlink.h)."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator

REQUEST = 0x1
DUMP = 0x300
ERROR, DONE = 2, 3
# As much as the kernel puts into one answer.
RECEIVE_BYTES = 1 << 15

# Length, type, flags, sequence, port.
_HEADER = struct.Struct("=IHHII")
# Length, type.
_ATTRIBUTE = struct.Struct("=HH")
# Whether it holds others, and the order of its bytes.
_ATTRIBUTE_FLAGS = 0xC000


def message(kind: int, flags: int, body: bytes) -> bytes:
    """Make a request."""
    return _HEADER.pack(_HEADER.size + len(body), kind, REQUEST | flags, 0, 0) + body


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Give type and body of each message; what the kernel refuses is an ``OSError``."""
    while len(data) >= _HEADER.size:
        length, kind, *_ = _HEADER.unpack_from(data)
        body = data[_HEADER.size : length]
        if kind == ERROR and (number := -struct.unpack_from("=i", body)[0]):
            raise OSError(number, os.strerror(number))
        yield kind, body
        data = data[_aligned(length) :]


def attribute(kind: int, value: bytes) -> bytes:
    """Make an attribute."""
    length = _ATTRIBUTE.size + len(value)
    return _ATTRIBUTE.pack(length, kind) + value + bytes(_aligned(length) - length)


def attributes(data: bytes) -> dict[int, bytes]:
    """Give the values of attributes by type."""
    found = {}
    at = 0
    while at + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, at)
        if length < _ATTRIBUTE.size:
            break
        found[kind & ~_ATTRIBUTE_FLAGS] = data[at + _ATTRIBUTE.size : at + length]
        at += _aligned(length)
    return found


def ask(sock: socket.socket, request: bytes) -> Iterator[bytes]:
    """Give the bodies of what answers a request for one thing, or for all (a dump)."""
    sock.send(request)
    while True:
        for kind, body in messages(sock.recv(RECEIVE_BYTES)):
            if kind == DONE:
                return
            yield body
        if not _HEADER.unpack_from(request)[2] & DUMP:
            return


def _aligned(length: int) -> int:
    return (length + 3) & ~3
