"""Packets that were sent again, as rows of marks below a chart."""

from __future__ import annotations

from array import array

import polars as pl

from mptcplab.report.columns import numbers, packets
from mptcplab.report.shape import Lane, Series
from mptcplab.report.subject import Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Role = Literal["data", "retransmission", "reinjection", "timeout"]

MARKED: tuple[tuple[Role, str], ...] = (
    ("retransmission", "resent"),
    ("reinjection", "reinjected"),
    ("timeout", "time-out"),
)

# Their duration begins with them; that of others lies before them.
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
