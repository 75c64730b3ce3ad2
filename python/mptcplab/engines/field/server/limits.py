"""What a server grants: how fast, how much in a run and in a day, and to how many at once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from pathlib import Path

from mptcplab import writing
from mptcplab._core import Error

MB = 10**6
SECOND_NS = 10**9
# The most days that are remembered.
MOST_DAYS = 31
# The prefix length of the network of an IPv6 host (RFC 4291 §2.5.1).
NETWORK_BITS = 64


def network(address: str) -> str:
    """Give what is counted as one client: an IPv4 address, or an IPv6 network of 64 bits."""
    read = ip_address(address.partition("%")[0])
    if isinstance(read, IPv6Address) and read.ipv4_mapped is None:
        return str(ip_network((int(read), NETWORK_BITS), strict=False))
    return address


@dataclass(frozen=True)
class Limits:
    """What a run may take."""

    rate_bits_per_second: int | None = None
    run_bytes: int = 1000 * MB
    day_bytes: int = 20_000 * MB
    run_ns: int = 3600 * SECOND_NS
    #: Of a run's capture on the disk: packets that come later are counted and not kept.
    capture_bytes: int = 500 * MB
    #: Connections that have not yet shown who they are, in all and from one address.
    unauthenticated: int = 256
    unauthenticated_of_one: int = 32
    #: Clients that have, and wait for their turn or run.
    clients: int = 16


class Ledger:
    """What was carried on each day (UTC); it outlives the server, however that ends.

    What may be carried is written before, and replaced by what was carried after: killing the
    server gains nothing.
    """

    def __init__(self, path: Path, today: Callable[[], str] | None = None) -> None:
        #: Since this server began.
        self.carried_bytes = 0
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
        """Reserve up to so many of today's bytes; ``None`` where none are left."""
        count = min(most, day_bytes - self.spent())
        if count <= 0:
            return None
        day = self._today()
        self._write(day, count)
        return Reservation(day, count)

    def settle(self, reserved: Reservation, carried: int | None) -> None:
        """Replace a reservation by what was carried; ``None``: all of it."""
        self.carried_bytes += reserved.count if carried is None else carried
        if carried is not None:
            self._write(reserved.day, carried - reserved.count)

    def _write(self, day: str, count: int) -> None:
        """Change a day's count; the latest written days stay, so that a clock may be set back."""
        count = max(0, self._days.pop(day, 0) + count)
        while len(self._days) >= MOST_DAYS:
            del self._days[next(iter(self._days))]
        self._days[day] = count
        writing.write_whole(self._path, (json.dumps(self._days) + "\n").encode())


@dataclass(frozen=True)
class Reservation:
    """Bytes of a day that a run may carry."""

    day: str
    count: int


def _today() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())
