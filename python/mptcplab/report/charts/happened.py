"""What happened when: a row of marks for each kind of event."""

from __future__ import annotations

import polars as pl

from mptcplab.report.charts.marks import MARKED, marks
from mptcplab.report.columns import definitions
from mptcplab.report.shape import Chart, Lane
from mptcplab.report.subject import Subject

NAMES = {
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
    named = events.with_columns(lane=pl.col("event").replace(NAMES))
    return Chart(
        "Events",
        "Signalling and other events of the connection, at the packet that showed them; what lasts "
        "is a bar from its start to its end. The table below tells of each.",
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
