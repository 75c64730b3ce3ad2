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
    strangers: int = 256
    strangers_of_one: int = 32
    #: Clients that have, and wait for their turn or run.
    clients: int = 16


class Ledger:
    """What was carried on each day (UTC); it outlives the server."""

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
        """Give the bytes of today."""
        return self._days.get(self._today(), 0)

    def add(self, count: int) -> None:
        """Write so many more down; older days than today's are forgotten."""
        self._days = {self._today(): self.spent() + count}
        writing.write_whole(self._path, (json.dumps(self._days) + "\n").encode())


def _today() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())
