"""Puts the packets of a pcapng into the order of time.

dumpcap drains one interface after the other, so packets of several interfaces come interleaved by blocks.
reordercap would mend it, but forgets the drop counts.
"""

from __future__ import annotations

import pathlib
import struct
from collections.abc import Iterator

ENHANCED_PACKET = 6


def order_by_time(file: pathlib.Path) -> None:
    """All interfaces must have the same time resolution, as dumpcap's have."""
    blocks = list(_blocks(file.read_bytes()))
    packets = [at for at, block in enumerate(blocks) if _kind(block) == ENHANCED_PACKET]
    ordered = sorted((blocks[at] for at in packets), key=_time)
    for at, block in zip(packets, ordered, strict=True):
        blocks[at] = block
    file.write_bytes(b"".join(blocks))


def _blocks(content: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(content):
        length = struct.unpack_from("=I", content, at + 4)[0]
        yield content[at : at + length]
        at += length


def _kind(block: bytes) -> int:
    return int(struct.unpack_from("=I", block)[0])


def _time(packet: bytes) -> int:
    high, low = struct.unpack_from("=II", packet, 12)
    return int(high << 32 | low)
