"""What time it is, and waiting."""

from __future__ import annotations

import time
from datetime import UTC, datetime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Clock(Protocol):
        """Of this machine, or of a test."""

        def now(self) -> datetime:
            """Give the time, in UTC."""

        def sleep(self, seconds: float) -> None:
            """Wait."""


class WallClock:
    """That of this machine."""

    def now(self) -> datetime:
        """Give the time, in UTC."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Wait; a machine that is suspended meanwhile may wait longer."""
        time.sleep(seconds)


def nanoseconds(at: datetime) -> int:
    """Count from 1970."""
    return round(at.timestamp() * 1e6) * 1000


def moment(at_ns: int) -> datetime:
    """Give the time of a count from 1970."""
    return datetime.fromtimestamp(at_ns / 1e9, UTC)
