"""Which numbers of a sequence have been seen, and by whom."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator

Owners = frozenset[int]


class Ranges:
    """Disjoint ranges, each with those who sent it."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.items: list[tuple[int, int, Owners]] = []

    def add(self, start: int, end: int, owner: int) -> list[tuple[int, int, Owners]]:
        """The pieces of start…end with those who sent them before, nobody included."""
        first = bisect.bisect_right(self.starts, start) - 1
        if first < 0 or self.items[first][1] <= start:
            first += 1
        last = bisect.bisect_left(self.starts, end)
        touched = self.items[first:last]
        before = list(_fill(start, end, touched))
        kept = [(a, b, owners | {owner}) for a, b, owners in before]
        if touched and touched[0][0] < start:
            kept.insert(0, (touched[0][0], start, touched[0][2]))
        if touched and touched[-1][1] > end:
            kept.append((end, touched[-1][1], touched[-1][2]))
        self.items[first:last] = kept
        self.starts[first:last] = [item[0] for item in kept]
        return before

    def count(self) -> int:
        """How many different numbers."""
        return sum(end - start for start, end, _ in self.items)


def _fill(
    start: int, end: int, items: Iterable[tuple[int, int, Owners]]
) -> Iterator[tuple[int, int, Owners]]:
    at = start
    for a, b, owners in items:
        if at < a:
            yield at, a, frozenset()
        yield max(a, start), min(b, end), owners
        at = min(b, end)
    if at < end:
        yield at, end, frozenset()
