"""The lines of the event table."""

from __future__ import annotations

from mptcplab.labels import events as words
from mptcplab.labels import text
from mptcplab.labels.events import changes
from mptcplab.report.charts.marks import MARKED
from mptcplab.report.shape import Event
from mptcplab.report.subject import Subject

# Marks of these are in the charts; a line each would be thousands.
MARKS = frozenset(event for event, _ in MARKED) - {"timeout"}


def told(subject: Subject) -> list[Event]:
    """Tell of all events but packets that were sent again, and of the run's timeline."""
    lines = [*_packets(subject), *_timeline(subject)]
    return sorted(lines, key=lambda line: line.at_s)


def _timeline(subject: Subject) -> list[Event]:
    return [
        Event(one.at_s, None, "timeline", one.words, one.is_grave)
        for one in changes(subject.scenario)
    ]


def _packets(subject: Subject) -> list[Event]:
    number = {name: place for place, name in enumerate(subject.captures)}
    return [
        Event(
            row["at_s"],
            row["subflow"],
            row["event"],
            text.clean(words.describe(row)),
            row["event"] in words.GRAVE,
            number[row["capture"]],
            row["record"],
        )
        for row in subject.table("events").sort("at_ns").iter_rows(named=True)
        if row["event"] not in MARKS
    ]
