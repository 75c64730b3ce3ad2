"""Times as drives and data sets have them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal, InvalidOperation

from mptcplab.recordings.recording import STATED, SUPPOSED
from mptcplab.surroundings import moments

# RFC 5322 section 4.3; other abbreviations mean several zones.
ABBREVIATIONS = {
    "UTC": 0,
    "UT": 0,
    "GMT": 0,
    "EDT": -4,
    "EST": -5,
    "CDT": -5,
    "CST": -6,
    "MDT": -6,
    "MST": -7,
    "PDT": -7,
    "PST": -8,
}
MILLI, MICRO, SECOND = 10**6, 10**3, 10**9


class Clock:
    """Reads the times of one file, and remembers what it had to suppose."""

    def __init__(self, zone: tzinfo | None) -> None:
        self._zone = zone
        self.state = STATED
        self.notes: list[str] = []

    def read(self, text: str, layout: str | None = None) -> int:
        """Give Unix time in nanoseconds.

        Args:
            text: ISO 8601 or seconds of Unix time, perhaps with an abbreviation of a zone behind.
            layout: How it is written, for ``datetime.strptime``, where it is otherwise.

        Raises:
            ValueError: It is no time.
        """
        text = text.strip()
        first, _, last = text.rpartition(" ")
        if last in ABBREVIATIONS:
            hours = ABBREVIATIONS[last]
            self._note(f"{last} is taken as UTC{hours:+d} (RFC 5322)" if hours else "")
            return moments.read(first, timezone(timedelta(hours=hours)))
        if last.isalpha() and last.isupper() and first:
            raise ValueError(
                f"{last!r} in {text!r} is not a time zone that is known here: write an offset "
                "such as +01:00, or leave it out and say --time-zone"
            )
        if layout is not None:
            try:
                text = datetime.strptime(text, layout).isoformat()
            except ValueError:
                raise ValueError(
                    f"{text!r} is not a time such as {datetime(2026, 11, 25, 9, 30):{layout}}"
                ) from None
        try:
            return moments.read(text)
        except ValueError as error:
            if "names no" not in str(error):
                raise
        if self._zone is None:
            self.state = SUPPOSED
            self._note("its times name no zone and are taken as UTC (--time-zone says another)")
        return moments.read(text, self._zone or UTC)

    def _note(self, note: str) -> None:
        if note and note not in self.notes:
            self.notes.append(note)


def unix(text: str, unit_ns: int) -> int:
    """Read Unix time in some unit.

    Raises:
        ValueError: It is not a number, or out of bounds.
    """
    try:
        at_ns = int(Decimal(text) * unit_ns)
    except (InvalidOperation, OverflowError, ValueError):
        raise ValueError(f"{text!r} is not a time: it must be a number of Unix time") from None
    if not 0 <= at_ns <= moments.MOST_NS:
        raise ValueError(f"{text!r} is not a time from 1970 to 2262")
    return at_ns
