"""How much a transfer may write and read, and how fast."""

from __future__ import annotations

from collections.abc import Callable

from mptcplab.engines.kernel.agent.loop import now

# The most that may pass at once after a pause: a socket buffer of a fast path.
BURST_BYTES = 1 << 18


class Allowance:
    """Shared by all connections of a transfer; ``spent`` is called when nothing is left."""

    def __init__(
        self, most_bytes: int | None, bits_per_second: int | None, spent: Callable[[], None]
    ) -> None:
        self._left = most_bytes
        self._rate = bits_per_second
        self._spent = spent
        self._tokens = float(BURST_BYTES)
        self._filled_ns = now()

    def at_most(self, count: int) -> int:
        """Return how many of so many bytes may pass now."""
        if self._rate is not None:
            at = now()
            earned = (at - self._filled_ns) * self._rate / 8e9
            self._tokens = min(BURST_BYTES, self._tokens + earned)
            self._filled_ns = at
            count = min(count, int(self._tokens))
        return count if self._left is None else min(count, self._left)

    def use(self, count: int) -> None:
        """Count bytes that have passed."""
        self._tokens -= count
        if self._left is not None:
            self._left -= count
            if self._left <= 0:
                self._spent()

    def wait_ns(self) -> int | None:
        """Return after which time to ask again; ``None``: never."""
        if self._rate is None or self._left == 0:
            return None
        # A quarter of a burst.
        return max(1, int(BURST_BYTES / 4 * 8e9 / self._rate))
