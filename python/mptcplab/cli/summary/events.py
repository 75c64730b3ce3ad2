"""What happened on a connection, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mptcplab.analysis import Measured
from mptcplab.cli.summary.page import Page
from mptcplab.labels import text
from mptcplab.labels.connections import begins_s
from mptcplab.labels.events import GRAVE, describe

Row = dict[str, Any]
# Time, number of the subflow, what happened, whether it deserves a second look.
Line = tuple[float, int | None, str, bool]

# Not listed here: the table of subflows has figures of them.
SHOWN_ELSEWHERE = frozenset(
    {
        "mptcp_established",
        "tcp_established",
        "join_established",
        "add_addr_echo",
        "retransmission",
        "reinjection",
    }
)
# What events must share to share a line.
ALIKE = ("event", "subflow", "direction", "detail", "address_id", "address", "port")


def print_events(
    page: Page,
    tables: Measured,
    connection: Row,
    names: dict[int, str],
    *,
    alone: bool,
    limit: int | None,
    others: list[Line],
) -> None:
    """Print what happened, at most ``limit`` lines of it, and among them the ``others``."""
    number, from_s = connection["connection"], begins_s(connection)
    events = tables.rows("events", connection=number)
    own = (row | {"at_s": row["at_s"] - from_s} for row in events)
    lines = sorted(_listed(own, alone=alone), key=_moment)
    for at, subflow, event, grave in sorted([*lines[:limit], *others], key=_moment):
        subject = "" if subflow is None else f"{subflow} {names.get(subflow, '')}".strip() + ": "
        first = f"{text.at(at):>10}  "
        page.paragraph(text.clean(subject + event), first=first, style="warning" if grave else "")
    if limit is not None and len(lines) > limit:
        more = f"… {len(lines) - limit} more; --connection {number} lists all"
        page.paragraph(more, first=" " * 12, style="faint")


def _moment(line: Line) -> float:
    return line[0]


def _listed(events: Iterator[Row], *, alone: bool) -> Iterator[Line]:
    """One line for events that differ in nothing but their times and lengths."""
    alike: dict[tuple[object, ...], _Alike] = {}
    for row in events:
        kind = row["event"]
        # The gaps of an only subflow are those of the connection.
        if kind in SHOWN_ELSEWHERE or (kind == "gap" and alone and row["subflow"] is not None):
            continue
        key = tuple(row[column] for column in ALIKE)
        if key in alike:
            alike[key].add(row)
        else:
            alike[key] = _Alike(row)
    for group in alike.values():
        row = group.first
        yield group.begun, row["subflow"], describe(row) + group.rest(), row["event"] in GRAVE


class _Alike:
    """Events that differ in nothing but their times and lengths."""

    def __init__(self, row: Row) -> None:
        self.first = row
        self.begun = row["at_s"]
        self.count = 1
        self.last = row["at_s"]
        self.longest = row["duration_ms"]

    def add(self, row: Row) -> None:
        self.count += 1
        self.last = row["at_s"]
        if self.longest is not None and row["duration_ms"] is not None:
            self.longest = max(self.longest, row["duration_ms"])

    def rest(self) -> str:
        if self.count == 1:
            return ""
        note = f", {self.count} times until {text.at(self.last)}"
        if self.longest is None:
            return note
        return f"{note}, the longest {text.milliseconds(self.longest)}"
