"""Times as logs have them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal, InvalidOperation

from mptcplab._core import Error

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
NUMBER = re.compile(r"\d+(\.\d*)?")
# Nanoseconds of Unix time that 64 bits hold.
MOST_NS = 2**63 - 1


def unix_ns(at: datetime) -> int:
    """Give a time that has a zone as Unix time."""
    return (at - EPOCH) // MICROSECOND * 1000


def zone(name: str | None) -> tzinfo | None:
    """Give a time zone by its name; none for none.

    Raises:
        Error: There is no such zone.
    """
    if name is None:
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError) as error:
        raise Error(
            f"there is no time zone {name!r}: UTC, or a name such as Europe/Paris"
        ) from error


def read(text: str, zone: tzinfo | None = None) -> int:
    """Read ISO 8601, such as ``2026-11-25T12:00:00.5+01:00``, or seconds of Unix time.

    ``zone`` is that of times that name none.

    Raises:
        ValueError: It is neither, or names no zone and ``zone`` is none.
    """
    text = text.strip()
    try:
        if NUMBER.fullmatch(text):
            at_ns = int(Decimal(text) * 10**9)
        else:
            at = datetime.fromisoformat(text)
            if at.tzinfo is None:
                if zone is None:
                    raise ValueError(f"{text!r} names no time zone: add Z or an offset to UTC")
                at = at.replace(tzinfo=zone)
            at_ns = unix_ns(at)
    except (InvalidOperation, OverflowError):
        at_ns = -1
    except ValueError as error:
        if "names no" in str(error):
            raise
        raise ValueError(
            f"{text!r} is not a time: 2026-11-25T12:00:00Z, or seconds of Unix time"
        ) from None
    if not 0 <= at_ns <= MOST_NS:
        raise ValueError(f"{text!r} is not a time from 1970 to 2262")
    return at_ns
