"""A captured packet, and the interface of sources that capture."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, Protocol

# A host sees every packet to itself twice.
LOOPBACK = "lo"
# linux/if_packet.h.
OUTGOING = 4


class Packet(NamedTuple):
    """A packet from its IP header on, as much of it as was kept."""

    interface: str
    out: bool
    at_ns: int
    length: int
    data: bytes | memoryview


class Source(Protocol):
    """A source of packets; it is read once ``fileno()`` is readable."""

    #: What captures, as stored with a run.
    by: str

    def fileno(self) -> int:
        """Give the descriptor to wait for."""
        ...

    def take(self) -> Iterator[Packet]:
        """Give the packets that were captured; ``data`` is valid until the next one."""
        ...

    def dropped(self) -> int | None:
        """Give how many packets the kernel has dropped; ``None`` where only the end tells."""
        ...

    def finish(self) -> tuple[list[Packet], int]:
        """Stop; returns the last packets, and how many the kernel dropped."""
        ...


@cache
def interface_name(number: int) -> str:
    """Give the name of an interface; empty once it has gone."""
    try:
        return socket.if_indextoname(number)
    except OSError:
        return ""


def ip_bytes(packet: bytes | memoryview) -> int:
    """Give the length in the IP header; above 64 KiB (BIG TCP) it holds none."""
    if packet[0] >> 4 == 4:
        return int.from_bytes(packet[2:4], "big")
    return int.from_bytes(packet[4:6], "big") + 40


def ends(packet: bytes | memoryview) -> tuple[tuple[bytes, int], tuple[bytes, int]]:
    """Give the addresses and ports that a packet of TCP is from and to."""
    if packet[0] >> 4 == 4:
        start, addresses = (packet[0] & 15) * 4, (packet[12:16], packet[16:20])
    else:
        start, addresses = 40, (packet[8:24], packet[24:40])
    from_, to = (bytes(address) for address in addresses)
    ports = bytes(packet[start : start + 4])
    return (from_, int.from_bytes(ports[:2], "big")), (to, int.from_bytes(ports[2:], "big"))
