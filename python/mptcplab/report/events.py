"""The lines of the event table."""

from __future__ import annotations

from mptcplab.report.charts.marks import MARKED
from mptcplab.report.shape import Event
from mptcplab.report.subject import Subject
from mptcplab.words import events as words
from mptcplab.words import text

# Marks of these are in the charts; a line each would be thousands.
MARKS = frozenset(event for event, _ in MARKED) - {"timeout"}


def told(subject: Subject) -> list[Event]:
    """Tell of all events but packets that were sent again."""
    number = {name: place for place, name in enumerate(subject.captures)}
    return [
        Event(
            row["at_s"],
            row["subflow"],
            row["event"],
            text.clean(words.told(row)),
            row["event"] in words.GRAVE,
            number[row["capture"]],
            row["record"],
        )
        for row in subject.table("events").sort("at_ns").iter_rows(named=True)
        if row["event"] not in MARKS
    ]
