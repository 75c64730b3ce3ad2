"""What a server grants: how fast, how much in a run and in a day, and to how many at once."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

from mptcplab import writing
from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MB = 10**6
SECOND_NS = 10**9


@dataclass(frozen=True)
class Limits:
    """What a run may take."""

    rate_bits_per_second: int | None = None
    run_bytes: int = 1000 * MB
    day_bytes: int = 20_000 * MB
    run_ns: int = 3600 * SECOND_NS
    #: Connections that have not yet shown who they are, in all and from one address.
    unauthenticated: int = 256
    unauthenticated_of_one: int = 32
    #: Clients that have, and wait for their turn or run.
    clients: int = 16


class Ledger:
    """What was carried on each day (UTC); it outlives the server, however that ends.

    What may be carried is written down before, and what was carried in its place after: whoever
    kills the server gains nothing.
    """

    def __init__(self, path: Path, today: Callable[[], str] | None = None) -> None:
        self._path = path
        self._today = today or _today
        try:
            self._days = {
                str(day): int(count) for day, count in json.loads(path.read_text()).items()
            }
        except FileNotFoundError:
            self._days = {}
        except (OSError, ValueError, AttributeError, TypeError) as error:
            raise Error(f"{path}: cannot be read as a ledger: {error}") from None

    def spent(self) -> int:
        """Give the bytes of today, with those that are reserved."""
        return self._days.get(self._today(), 0)

    def reserve(self, most: int, day_bytes: int) -> Reservation | None:
        """Set up to so many bytes of today's aside; ``None`` where none are left."""
        count = min(most, day_bytes - self.spent())
        if count <= 0:
            return None
        day = self._today()
        self._write(day, count)
        return Reservation(day, count)

    def settle(self, reserved: Reservation, carried: int | None) -> None:
        """Put what was carried in its place; where nobody knows, all of it was."""
        if carried is not None:
            self._write(reserved.day, carried - reserved.count)

    def _write(self, day: str, count: int) -> None:
        """Change a day's count; days before the one that is written are forgotten."""
        days = {one: bytes_ for one, bytes_ in self._days.items() if one >= day}
        self._days = days | {day: max(0, days.get(day, 0) + count)}
        writing.write_whole(self._path, (json.dumps(self._days) + "\n").encode())


@dataclass(frozen=True)
class Reservation:
    """Bytes of a day that a run may carry."""

    day: str
    count: int


def _today() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())
