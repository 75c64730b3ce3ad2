"""The filter that asks about sockets for TCP, as the kernel runs it."""

from __future__ import annotations

import socket
import struct

import pytest

from mptcplab.machine import multipath

SOCKET, MACHINE, READ = 41, 0xC000_003E, 0
STREAM, DATAGRAM = socket.SOCK_STREAM, socket.SOCK_DGRAM
FLAGS = socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK


def verdict(call: int, machine: int, *arguments: int) -> int:
    """Run it over what the kernel shows of a system call (struct seccomp_data)."""
    given = [*arguments, *[0] * (6 - len(arguments))]
    shown = struct.pack("=iIQ6Q", call, machine, 0, *given)
    lines = multipath.questions(MACHINE, SOCKET)
    held = at = 0
    while True:
        code, equal, other, value = lines[at]
        at += 1
        if code == multipath.LOAD:
            (held,) = struct.unpack_from("=I", shown, value)
        elif code == multipath.AND:
            held &= value
        elif code == multipath.EQUAL:
            at += equal if held == value else other
        else:
            return value


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
@pytest.mark.parametrize("kind", [STREAM, STREAM | FLAGS])
@pytest.mark.parametrize("protocol", [0, socket.IPPROTO_TCP])
def test_it_asks_about_sockets_for_tcp(family: int, kind: int, protocol: int) -> None:
    assert verdict(SOCKET, MACHINE, family, kind, protocol) == multipath.ASK


@pytest.mark.parametrize(
    ("call", "machine", "arguments"),
    [
        (SOCKET, MACHINE, (socket.AF_INET, DATAGRAM, 0)),
        (SOCKET, MACHINE, (socket.AF_INET6, STREAM, multipath.IPPROTO_MPTCP)),
        (SOCKET, MACHINE, (socket.AF_INET, STREAM, socket.IPPROTO_SCTP)),
        (SOCKET, MACHINE, (socket.AF_UNIX, STREAM, 0)),
        (SOCKET, MACHINE, (socket.AF_NETLINK, socket.SOCK_RAW, 0)),
        (READ, MACHINE, (socket.AF_INET, STREAM, 0)),
        (SOCKET, 0, (socket.AF_INET, STREAM, 0)),
        (READ, 0, (0, 0, 0)),
    ],
)
def test_it_allows_all_else(call: int, machine: int, arguments: tuple[int, ...]) -> None:
    assert verdict(call, machine, *arguments) == multipath.ALLOW
