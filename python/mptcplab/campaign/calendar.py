"""``[[calendar]]``: when a campaign visits networks, which never are the same again."""

from __future__ import annotations

import hashlib
import os
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field

from mptcplab.messages import nearest
from mptcplab.scenario.fault import Faults
from mptcplab.scenario.section import Duration, Integer, Section, Text, read
from mptcplab.scenario.source import Source, tables

#: The axis that a calendar adds: the hour of the day at which a visit began, or is due.
HOUR = "hour"
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOURS = re.compile(r"([01][0-9]|2[0-4]):([0-5][0-9])-([01][0-9]|2[0-4]):([0-5][0-9])")
DAY_MINUTES = 24 * 60
ZONES = Path("/usr/share/zoneinfo")
LOCAL = Path("/etc/localtime")


class CalendarSection(Section):
    """When visits are due. At each visit every configuration is run once, with its baselines."""

    days: list[Any] = Field(default_factory=lambda: list(DAYS))
    """Days of the week, such as ``["Mon", "Sat"]``. If left out, all."""
    hours: Text = "00:00-24:00"
    """Hours of the day, in the campaign's ``time_zone``. The interval may extend past midnight."""
    visits: Integer = Field(ge=1, le=1440)
    """Visits per day. The hours are divided into this many equal parts, and each part has a visit
    at a time drawn from the seed."""
    for_days: Integer = Field(ge=1, le=3660)
    """Number of periods of 24 hours that the schedule lasts, from when it is first started."""
    grace: Duration = Field(600 * 10**9, ge=10**9)
    """How late a visit may start. After that it counts as missed."""


@dataclass(frozen=True)
class Calendar:
    """One that was read."""

    days: frozenset[int]
    #: Minutes from midnight; the second is above the first.
    start: int
    end: int
    visits: int
    lasts: timedelta
    grace: timedelta


@dataclass(frozen=True)
class Visit:
    """A point of time at which a campaign runs each configuration once."""

    #: From 1, in the order of time, but for what was added since the schedule was begun.
    number: int
    due: datetime
    #: Latest time to begin.
    until: datetime
    #: Label of the hour of the day.
    hour: str


def read_calendars(value: Any, source: Source) -> list[Calendar]:
    """Read all of them."""
    calendars = []
    faults = Faults()
    for number, one in enumerate(tables(value, "calendar", source)):
        with faults.collected():
            calendars.append(_calendar(one, number, source))
    faults.raise_found()
    return calendars


def zone(name: str | None) -> ZoneInfo:
    """Give a time zone by its name, or that of this machine.

    Raises:
        ValueError: There is no such zone.
    """
    wanted = _local() if name is None else name
    try:
        return ZoneInfo(wanted)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f'{wanted} is not a time zone, such as "Europe/Berlin"') from None


def visits(
    calendars: Sequence[Calendar],
    begun: datetime,
    local: ZoneInfo,
    seed: int,
    width: int,
    earlier: Sequence[Sequence[timedelta]] = (),
) -> list[Visit]:
    """Draw all visits of a schedule that was begun then, by hours of the day of this width.

    ``earlier`` says how long each calendar was to last before, each time that this was another:
    visits keep their numbers, and those that were added since follow them.
    """
    numbers: dict[tuple[datetime, int, int], int] = {}
    for lasts in (*earlier, [one.lasts for one in calendars]):
        drawn = [
            (due, calendar, n)
            for calendar, (one, last) in enumerate(zip(calendars, lasts, strict=True))
            for n, due in enumerate(_dues(one, calendar, begun, local, seed, last))
        ]
        for visit in sorted(drawn):
            numbers.setdefault(visit, len(numbers) + 1)
    return [
        Visit(number, due, due + calendars[at].grace, hour(due, local, width))
        for (due, at, _), number in sorted(numbers.items())
    ]


def hour(at: datetime, local: ZoneInfo, width: int) -> str:
    """Give the label of the hour of the day there."""
    shown = at.astimezone(local).hour
    first = shown - shown % width
    return f"{first:02}-{first + width:02}"


def digest(known: Iterable[Visit]) -> str:
    """Give a digest of when visits are due, in the order of their numbers."""
    ordered = sorted(known, key=lambda visit: visit.number)
    dues = " ".join(str(int(one.due.timestamp())) for one in ordered)
    return hashlib.sha256(dues.encode()).hexdigest()


def _dues(
    calendar: Calendar,
    number: int,
    begun: datetime,
    local: ZoneInfo,
    seed: int,
    lasts: timedelta,
) -> Iterator[datetime]:
    last = begun + lasts
    # Hours of the day before may go beyond midnight.
    day = begun.astimezone(local).date() - timedelta(days=1)
    while day <= last.astimezone(local).date():
        if day.weekday() in calendar.days:
            # Each day has draws of its own: they stay when the calendar goes on for longer.
            chance = random.Random(f"{seed} {number} {day}")  # noqa: S311 - no secret
            start, end = (_at(day, at, local) for at in (calendar.start, calendar.end))
            part = (end - start) / calendar.visits
            # Where clocks are put forward a day may not have these hours.
            for index in range(calendar.visits):
                due = (start + (index + chance.random()) * part).replace(microsecond=0)
                if begun <= due < last and part:
                    yield due
        day += timedelta(days=1)


def _at(day: date, minutes: int, local: ZoneInfo) -> datetime:
    """Give a time of a day, as clocks there show it; one that they leave out is when they jump."""
    midnight = datetime.combine(day, time())
    while True:
        shown = midnight + timedelta(minutes=minutes)
        found = shown.replace(tzinfo=local).astimezone(UTC)
        if found.astimezone(local).replace(tzinfo=None) == shown:
            return found
        minutes += 1


def _calendar(value: Any, number: int, source: Source) -> Calendar:
    key_path = ("calendar", number)
    section = read(CalendarSection, value, key_path, source)
    for day in section.days:
        if day not in DAYS:
            raise source.fault(
                (*key_path, "days"), f"{day} is not a day; {nearest(str(day), DAYS)}"
            )
    if not section.days:
        raise source.fault((*key_path, "days"), "has no day: leave it out for all")
    found = HOURS.fullmatch(section.hours)
    start, end = _minutes(found.groups()) if found else (0, DAY_MINUTES + 1)
    if max(start, end) > DAY_MINUTES or start == end:
        raise source.fault(
            (*key_path, "hours"), f'{section.hours} is not such as "06:00-23:00" or "22:00-02:00"'
        )
    return Calendar(
        days=frozenset(map(DAYS.index, section.days)),
        start=start,
        end=end if end > start else end + DAY_MINUTES,
        visits=section.visits,
        lasts=timedelta(days=section.for_days),
        grace=timedelta(microseconds=section.grace / 1000),
    )


def _minutes(found: tuple[str, ...]) -> tuple[int, int]:
    first, minute, last, other = map(int, found)
    return first * 60 + minute, last * 60 + other


def _local() -> str:
    """Name the time zone of this machine."""
    if name := os.environ.get("TZ", "").removeprefix(":"):
        return name
    file = LOCAL.resolve()
    return str(file.relative_to(ZONES)) if file.is_relative_to(ZONES) else "UTC"
