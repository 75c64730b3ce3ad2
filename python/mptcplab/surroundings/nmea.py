"""Positions as receivers write them: sentences of NMEA 0183."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any

from mptcplab.surroundings import moments, quantities

# $TTSSS,fields*HH, HH the exclusive or of all between $ and *; a logger may have put a time before.
SENTENCE = re.compile(
    r"\$(?P<body>[A-Z]{2}(?P<kind>[A-Z]{3}),[^*$]*)(?:\*(?P<sum>[0-9A-Fa-f]{2}))?"
)
KNOT_MPS = 1852 / 3600
# Two digits of a year: GPS began in 1980.
CENTURY, FIRST = 2000, 80


def read(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give each position with the number of its line.

    RMC has time, date, position, speed in knots and course; GGA, which has no date and takes that
    of the RMC before it, the altitude. Both of one second are one position. Others are left out,
    and so are sentences without a fix or with a wrong sum: serial lines lose characters.

    Raises:
        ValueError: No sentence is whole, or something in one is wrong; its second argument is the
            number of the line.
    """
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), 1):
        if (found := SENTENCE.search(line)) is None:
            continue
        if found["sum"] is None or int(found["sum"], 16) != _sum(found["body"]):
            continue
        try:
            yield from reader.sentence(number, found["kind"], found["body"].split(",")[1:])
        except ValueError as error:
            raise ValueError(f"{found['kind']}: {error}", number) from error
        except IndexError as error:
            raise ValueError(f"{found['kind']} has too few fields", number) from error
    if not reader.whole:
        raise ValueError("neither GPX nor a sentence of NMEA 0183 with a right sum", 1)
    yield from reader.last()


def _sum(body: str) -> int:
    return reduce(lambda before, sign: before ^ ord(sign), body, 0)


class _Reader:
    def __init__(self) -> None:
        self.whole = 0
        self._day: datetime | None = None
        self._time = ""
        self._row: tuple[int, dict[str, Any]] | None = None
        # Of a time, that may stand before the first date.
        self._altitude: tuple[str, float] | None = None

    def sentence(
        self, line: int, kind: str, fields: list[str]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        self.whole += 1
        if kind == "RMC":
            yield from self._rmc(line, fields)
        elif kind == "GGA" and fields[5] not in ("", "0") and fields[8]:
            self._altitude = (
                fields[0],
                quantities.number("altitude_m", fields[8], quantities.POSITIONS),
            )
            self._complete()

    def last(self) -> Iterator[tuple[int, dict[str, Any]]]:
        if self._row is not None:
            yield self._row

    def _rmc(self, line: int, fields: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
        if fields[1] != "A":  # A: valid, V: a warning of the receiver
            return
        yield from self.last()
        row: dict[str, Any] = {
            "at_ns": moments.unix_ns(_date(fields[8]) + _time(fields[0])),
            "latitude_deg": _degrees("latitude_deg", fields[2], fields[3], "NS"),
            "longitude_deg": _degrees("longitude_deg", fields[4], fields[5], "EW"),
        }
        if fields[6]:
            speed = quantities.number("speed_mps", fields[6], quantities.POSITIONS)
            row["speed_mps"] = speed * KNOT_MPS
        if fields[7]:
            row["course_deg"] = quantities.number("course_deg", fields[7], quantities.POSITIONS)
        self._time, self._row = fields[0], (line, row)
        self._complete()

    def _complete(self) -> None:
        """Have the altitude of the same time."""
        if self._row and self._altitude and self._altitude[0] == self._time:
            self._row[1]["altitude_m"] = self._altitude[1]


def _date(text: str) -> datetime:
    """Read ddmmyy."""
    if not re.fullmatch(r"\d{6}", text):
        raise ValueError(f"{text!r} is not a date")
    year = int(text[4:])
    try:
        return datetime(
            year + CENTURY - 100 * (year >= FIRST), int(text[2:4]), int(text[:2]), tzinfo=UTC
        )
    except ValueError:
        raise ValueError(f"{text!r} is not a date") from None


def _time(text: str) -> timedelta:
    """Read hhmmss.ss."""
    # With a leap second.
    if not re.fullmatch(r"([01]\d|2[0-3])[0-5]\d([0-5]\d|60)(\.\d*)?", text):
        raise ValueError(f"{text!r} is not a time of day")
    return timedelta(hours=int(text[:2]), minutes=int(text[2:4]), seconds=float(text[4:]))


def _degrees(column: str, text: str, side: str, sides: str) -> float:
    """Read ddmm.mmmm or dddmm.mmmm."""
    found = re.fullmatch(r"(\d{1,3})(\d{2}(?:\.\d*)?)", text)
    if found is None or side not in sides or not side:
        raise ValueError(f"{text!r} {side!r} is not a {column.removesuffix('_deg')}")
    value = int(found[1]) + float(found[2]) / 60
    return quantities.checked(column, value if side == sides[0] else -value, quantities.POSITIONS)
