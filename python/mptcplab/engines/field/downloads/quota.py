"""What ``serve --open`` allows: by day, by address and on the disk."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from mptcplab.engines.field.downloads.request import Refusal
from mptcplab.engines.field.server.limits import MB, Ledger, Reservation, network

# The most addresses of a day that are remembered; beyond that, the first are forgotten.
MOST_ADDRESSES = 1 << 16


@dataclass(frozen=True)
class DownloadLimits:
    """What downloads may take."""

    #: All together.
    rate_bits_per_second: int | None = None
    download_bytes: int = 100 * MB
    day_bytes: int = 20_000 * MB
    #: Of one address (IPv6: network of 64 bits) in a day.
    address_bytes: int = 1000 * MB
    #: At once, in all and to one address.
    downloads: int = 8
    downloads_of_one: int = 2
    #: Of one capture, and of all runs that are kept.
    capture_bytes: int = 100 * MB
    kept_bytes: int = 10_000 * MB


class Quota:
    """What may still be downloaded, and by whom."""

    def __init__(self, limits: DownloadLimits, ledger: Ledger) -> None:
        self._limits = limits
        self._ledger = ledger
        self._now: Counter[str] = Counter()
        self._of_day: dict[str, int] = {}
        self._day = ""

    def take(self, address: str, count: int) -> Reservation | Refusal:
        """Reserve so many bytes for a download."""
        one, limits = network(address), self._limits
        if self._now[one] >= limits.downloads_of_one:
            return Refusal(429, "downloads to this address go on: wait for their end")
        if self._now.total() >= limits.downloads:
            return Refusal(503, "too many downloads go on: try again in a minute")
        if self._ledger.spent() + count > limits.day_bytes:
            return Refusal(503, "this server has given all that it may today")
        reserved = self._ledger.reserve(count, limits.day_bytes)
        if reserved is None:
            return Refusal(503, "this server has given all that it may today")
        if reserved.day != self._day:
            self._day, self._of_day = reserved.day, {}
        if self._of_day.get(one, 0) + count > limits.address_bytes:
            self._ledger.settle(reserved, 0)
            return Refusal(429, "this address has had all that it may today")
        if len(self._of_day) >= MOST_ADDRESSES:
            del self._of_day[next(iter(self._of_day))]
        self._of_day[one] = self._of_day.get(one, 0) + count
        self._now[one] += 1
        return reserved

    def settle(self, address: str, reserved: Reservation, carried: int) -> None:
        """End a download's reservation, with the bytes that it carried."""
        one = network(address)
        self._ledger.settle(reserved, carried)
        self._now[one] -= 1
        if not self._now[one]:
            del self._now[one]
        if reserved.day == self._day and one in self._of_day:
            self._of_day[one] += carried - reserved.count
