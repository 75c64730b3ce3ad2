"""What streams carry: the 16-bit big-endian word k of a stream is k modulo 65535."""

from __future__ import annotations

import struct

# The series repeats after as many words: 0xffff does not occur, 0 does.
WORDS = 65_535
PERIOD = 2 * WORDS
# Most bytes that are looked at or written at once.
CHUNK = 1 << 20

_STREAM = struct.pack(f">{WORDS}H", *range(WORDS)) * (CHUNK // PERIOD + 2)
_VIEW = memoryview(_STREAM)


def part(position: int, length: int) -> memoryview:
    """Give up to ``CHUNK`` bytes of the stream, from ``position`` on."""
    start = position % PERIOD
    return _VIEW[start : start + min(length, CHUNK)]


def corrupt_bytes(position: int, found: memoryview) -> int:
    """Count the bytes that are not those of the stream from ``position`` on."""
    # Compares as memcmp does; memoryviews would be compared item by item.
    if _STREAM.startswith(found, position % PERIOD):
        return 0
    wanted = part(position, len(found))
    differences = int.from_bytes(wanted, "big") ^ int.from_bytes(found, "big")
    return len(found) - differences.to_bytes(len(found), "big").count(0)
