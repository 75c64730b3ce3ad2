"""A packet as whoever captures it gives it."""

from __future__ import annotations

import socket
from functools import cache
from typing import NamedTuple, Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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
    """Whoever captures; it is asked once ``fileno()`` is readable."""

    #: As a run says who captured.
    by: str

    def fileno(self) -> int:
        """Give what is to be waited for."""
        ...

    def take(self) -> Iterator[Packet]:
        """Give what has come; ``data`` holds until the next one."""
        ...

    def dropped(self) -> int | None:
        """Give how many packets the kernel has dropped; ``None`` where that is told at the end."""
        ...

    def finish(self) -> tuple[list[Packet], int]:
        """Capture no more; gives what came last, and how many packets the kernel dropped."""
        ...


@cache
def interface_name(number: int) -> str:
    """Give the name of an interface; empty once it has gone."""
    try:
        return socket.if_indextoname(number)
    except OSError:
        return ""


def ip_bytes(packet: bytes | memoryview) -> int:
    """Give the length that the IP header says; of more than 64 KiB (BIG TCP) it says nothing."""
    if packet[0] >> 4 == 4:
        return int.from_bytes(packet[2:4], "big")
    return int.from_bytes(packet[4:6], "big") + 40


def ends(packet: bytes | memoryview) -> tuple[tuple[bytes, int], tuple[bytes, int]]:
    """Give the addresses and ports that a packet of TCP is from and to."""
    if packet[0] >> 4 == 4:
        at, places = (packet[0] & 15) * 4, (packet[12:16], packet[16:20])
    else:
        at, places = 40, (packet[8:24], packet[24:40])
    from_, to = (bytes(place) for place in places)
    ports = bytes(packet[at : at + 4])
    return (from_, int.from_bytes(ports[:2], "big")), (to, int.from_bytes(ports[2:], "big"))
