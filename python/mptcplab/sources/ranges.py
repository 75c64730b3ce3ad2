"""Bytes of a stream: which are known, and which are in order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Ranges:
    """Ranges of offsets, apart from each other and in order."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> int:
        """Add the bytes from ``start`` to before ``end``, and give how many are new."""
        first = bisect_left(self._ends, start)
        last = bisect_right(self._starts, end)
        held = sum(
            max(0, min(end, self._ends[each]) - max(start, self._starts[each]))
            for each in range(first, last)
        )
        whole = range(first, last)
        low = min((start, *(self._starts[each] for each in whole)))
        high = max((end, *(self._ends[each] for each in whole)))
        self._starts[first:last], self._ends[first:last] = [low], [high]
        return end - start - held

    @property
    def in_order(self) -> int:
        """How many bytes are known from the beginning on, without a gap."""
        return self._ends[0] if self._starts and self._starts[0] == 0 else 0
