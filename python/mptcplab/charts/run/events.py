"""Events as marks below a chart, as a chart, as lines of a table; and what the timeline did."""

from __future__ import annotations

from array import array

import polars as pl

from mptcplab.charts.columns import definitions, numbers, packets
from mptcplab.charts.run.subject import Subject
from mptcplab.charts.shape import Chart, Event, Lane, Moment, Role, Series
from mptcplab.labels import events as labels
from mptcplab.labels import text
from mptcplab.labels.events import ENDED_BY
from mptcplab.labels.findings import called

MARKED: tuple[tuple[Role, str], ...] = (
    ("retransmission", "resent"),
    ("reinjection", "reinjected"),
    ("timeout", "time-out"),
)

# A finding of more of the time than this has no band: it would stand behind all there is.
MOST_OF_IT = 0.9

# Their duration begins with them; that of others ends with them.
LASTING = ("gap",)


def lanes(subject: Subject) -> list[Lane]:
    """Give a row for each kind of mark of which there are any."""
    sent = subject.table("events").filter(pl.col("direction") == subject.direction)
    rows = []
    for event, name in MARKED:
        found = sent.filter(event=event)
        series = [
            marks(subject, called, number, found.filter(subflow=number), event)
            for number, called in subject.names.items()
        ]
        series = [one for one in series if one.x]
        if series:
            rows.append(Lane(name, series))
    return rows


def finding_lanes(subject: Subject) -> list[Lane]:
    """Give a row for each kind of finding: a bar over its span, at the packet that shows it."""
    number = {name: index for index, name in enumerate(subject.captures)}
    rows: dict[str, list[Series]] = {}
    for one in subject.findings:
        known = one["capture"] in number and one["record"] is not None
        mark = Series(
            subject.names.get(one["subflow"], "connection"),
            "points",
            array("d", [one["from_s"]]),
            array("d"),
            subflow=one["subflow"],
            capture=array("H", [number[one["capture"]]]) if known else None,
            record=array("I", [one["record"]]) if known else None,
            until=array("d", [one["to_s"]]),
        )
        rows.setdefault(one["kind"], []).append(mark)
    return [Lane(called(kind), series) for kind, series in rows.items()]


def marks(
    subject: Subject, name: str, number: int | None, events: pl.DataFrame, role: Role
) -> Series:
    """Give a mark per event, and a bar where it lasts from then on."""
    lasting = events.filter(pl.col("event").is_in(LASTING))
    ends = events["at_s"] + events["duration_ms"].fill_null(0.0) / 1000
    return Series(
        name,
        "points",
        numbers(events["at_s"]),
        array("d"),
        role=role,
        subflow=number,
        until=numbers(ends) if len(lasting) else None,
        **packets(events, subject.captures),
    )


LANES = {
    "mptcp_established": "established",
    "tcp_established": "established",
    "join_established": "joined",
    "join_refused": "join failed",
    "join_unanswered": "join failed",
    "join_unfinished": "join failed",
    "add_addr": "address",
    "add_addr_echo": "address",
    "remove_addr": "address",
    "prio": "priority",
    "fail": "MP_FAIL",
}
ELSEWHERE = [event for event, _ in MARKED]


def chart(subject: Subject) -> Chart | None:
    """Events of the connection over time, a row for each kind."""
    events = subject.table("events").filter(~pl.col("event").is_in(ELSEWHERE))
    if events.is_empty():
        return None
    named = events.with_columns(lane=pl.col("event").replace(LANES))
    return Chart(
        "Events",
        "Signalling and other events of the connection, at the packet that showed them; those "
        "that last are bars from start to end. The table below lists each.",
        definitions("events", "at_s", "event", "detail", "duration_ms", "record"),
        lanes=[
            Lane(
                str(lane),
                [
                    marks(subject, subject.names.get(number, "connection"), number, own, "data")
                    for (number,), own in found.group_by("subflow", maintain_order=True)
                ],
            )
            for (lane,), found in named.group_by("lane", maintain_order=True)
        ],
    )


# Marks of these are in the charts; a line each would be thousands.
MARKS = frozenset(event for event, _ in MARKED) - {"timeout"}


def table(subject: Subject) -> list[Event]:
    """Describe all events but retransmissions, and those of the run's timeline."""
    lines = [*_packets(subject), *_timeline(subject)]
    return sorted(lines, key=lambda line: line.at_s)


def _timeline(subject: Subject) -> list[Event]:
    return [
        Event(one.at_s, None, "timeline", one.description, one.is_grave) for one in subject.changes
    ]


def _packets(subject: Subject) -> list[Event]:
    number = {name: index for index, name in enumerate(subject.captures)}
    return [
        Event(
            row["at_s"],
            row["subflow"],
            row["event"],
            text.clean(labels.describe(row)),
            row["event"] in labels.GRAVE,
            number[row["capture"]],
            row["record"],
        )
        for row in subject.table("events").sort("at_ns").iter_rows(named=True)
        if row["event"] not in MARKS
    ]


def moments(subject: Subject) -> list[Moment]:
    """Give in order those that the connection has seen."""
    found = []
    for one in subject.changes:
        until = one.until_s if one.until_s is not None else subject.end_s
        if one.at_s > subject.end_s or until < 0 or one.verb in ("restore", "attach"):
            continue
        change = f"{one.path}: {one.verb}{f' {one.link}' if one.link else ''}"
        found.append(Moment(change, one.at_s, until if one.verb in ENDED_BY else None))
    return found


def found_moments(subject: Subject) -> list[Moment]:
    """Give the spans of findings, a band each: those of a part of the time."""
    most_s = MOST_OF_IT * (subject.end_s - subject.start_s)
    return [
        Moment(called(row["kind"]), row["from_s"], row["to_s"], found=True)
        for row in subject.findings
        if row["from_s"] < subject.end_s and row["to_s"] - row["from_s"] < most_s
    ]
