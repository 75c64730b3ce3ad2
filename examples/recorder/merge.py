"""Joins pcapng files of one interface each into one, with the packets in the order of time.

mergecap and reordercap would do it, but forget the drop counts.
"""

from __future__ import annotations

import pathlib
import struct
from collections.abc import Iterator, Sequence

SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6


def merge(parts: Sequence[pathlib.Path]) -> bytes:
    """All parts must have this machine's byte order and one time resolution, as dumpcap's have."""
    kept = (SECTION, INTERFACE, PACKET, STATISTICS)
    blocks: dict[int, list[bytearray]] = {kind: [] for kind in kept}
    for number, part in enumerate(parts):
        for kind, block in _blocks(part.read_bytes()):
            if kind in (PACKET, STATISTICS):
                struct.pack_into("=I", block, 8, number)
            if kind in kept:
                blocks[kind].append(block)
    blocks[PACKET].sort(key=_time)
    return b"".join([blocks[SECTION][0], *blocks[INTERFACE], *blocks[PACKET], *blocks[STATISTICS]])


def _blocks(content: bytes) -> Iterator[tuple[int, bytearray]]:
    at = 0
    while at < len(content):
        kind, length = struct.unpack_from("=II", content, at)
        yield kind, bytearray(content[at : at + length])
        at += length


def _time(packet: bytearray) -> int:
    high, low = struct.unpack_from("=II", packet, 12)
    return int(high << 32 | low)
