"""Even times that do not drift: whenever as many bits are due as a message has."""

from __future__ import annotations


class Ticks:
    """Messages of ``size_bytes`` at a rate, from ``start`` on, before ``stop`` (none: for ever)."""

    def __init__(
        self, start: int, size_bytes: int, rate_bits_per_second: int, stop: int | None
    ) -> None:
        self._start = start
        self._bits = size_bytes * 8
        self._rate = rate_bits_per_second
        self._stop = stop
        self._count = 0

    def next(self) -> int | None:
        """Give the time of the next one; none when it would not be before the stop."""
        at = self._start + self._count * self._bits * 10**9 // self._rate
        return at if self._stop is None or at < self._stop else None

    def due(self, now: int) -> int:
        """Count those whose time has come since this was last asked."""
        before = self._count
        while (at := self.next()) is not None and at <= now:
            self._count += 1
        return self._count - before
