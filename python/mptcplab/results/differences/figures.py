"""Figures of two analyses side by side: per connection, and per subflow by its name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from mptcplab.analysis import Analysis
from mptcplab.labels.connections import carried, names_of
from mptcplab.metrics import of_runs, of_subflows
from mptcplab.results import run_metrics
from mptcplab.results.run import Run

Row = dict[str, Any]

# The most connections that are matched by their numbers.
MOST = 20


@dataclass(frozen=True)
class Figure:
    """A figure on both sides; None where it is unknown, or where a side has no such thing."""

    #: Name of the run; None between captures.
    run: str | None
    #: Numbers of the connections.
    connection_a: int
    connection_b: int
    direction: str
    #: The name of the subflow, of both sides as in ``lte / nr`` where they differ;
    #: None for the connection as a whole.
    subflow: str | None
    #: The tables' column.
    figure: str
    a: float | None
    b: float | None

    @property
    def difference(self) -> float | None:
        """B − A."""
        return None if self.a is None or self.b is None else self.b - self.a

    @property
    def relative(self) -> float | None:
        """B / A − 1: 0.25 for 25 % more."""
        return self.b / self.a - 1 if self.a and self.b is not None else None


def side_by_side(run: str | None, a: Analysis, b: Analysis) -> list[Figure]:
    """Give the figures of connections that belong together.

    They are matched by their numbers if both sides have equally many, and not too many; otherwise
    those with most bytes are.
    """
    numbers_a, numbers_b = (list(one.connections["connection"]) for one in (a, b))
    if len(numbers_a) != len(numbers_b) or len(numbers_a) > MOST:
        numbers_a, numbers_b = _largest(a), _largest(b)
    return [
        figure
        for one, other in zip(numbers_a, numbers_b, strict=False)
        for figure in _of_connections(run, Connection(a, one), Connection(b, other))
    ]


def _largest(analysis: Analysis) -> list[int]:
    if isinstance(analysis, Run) and analysis.transfer:
        return [analysis.transfer["connection"]]
    moved = analysis.transfers.select("connection", "bytes")
    rows = moved.group_by("connection").sum().sort("bytes", "connection")
    return list(rows["connection"][-1:])


class Connection:
    """The rows of one connection."""

    def __init__(self, analysis: Analysis, number: int) -> None:
        self.number = number

        def rows(name: str) -> list[Row]:
            frame = getattr(analysis, name).filter(connection=number)
            return list(frame.iter_rows(named=True))

        self.transfers = {row["direction"]: row for row in rows("transfers")}
        self.flows = rows("flows")
        subflows = rows("subflows")
        names = names_of(subflows)
        self.subflows = {names[row["subflow"]]: row for row in subflows}

    def whole(self, direction: str) -> Row:
        """Give the figures of the connection."""
        row = self.transfers.get(direction)
        flows = [] if row is None else run_metrics.of_transfer(self.flows, row)
        known = {**(row or {}), **run_metrics.metrics_of(row, flows)}
        return {name: known.get(name) for one in of_runs("document") for name in one.columns}

    def of(self, name: str | None, direction: str) -> Row:
        """Give the figures of the subflow of that name; none where it carried nothing."""
        subflow = self.subflows.get(name or "", {})
        keys = (subflow.get("subflow"), direction)
        flow = next((one for one in self.flows if (one["subflow"], one["direction"]) == keys), {})
        rows = {"flows": flow if flow and carried(flow) else {}, "subflows": subflow}
        return {
            name: rows[one.table].get(name)
            for one in of_subflows("document")
            for name in one.columns
        }


def _of_connections(run: str | None, a: Connection, b: Connection) -> Iterator[Figure]:
    for direction in ("down", "up"):
        transfers = [one.transfers.get(direction) for one in (a, b)]
        if not any(row and row["bytes"] for row in transfers):
            continue
        whole = a.whole(direction), b.whole(direction)
        for figure in whole[0]:
            values = (one[figure] for one in whole)
            yield Figure(run, a.number, b.number, direction, None, figure, *values)
        for one, other in _paired([*a.subflows], [*b.subflows]):
            parts = a.of(one, direction), b.of(other, direction)
            if not any(part["delivered_bytes"] or part["data_packets"] for part in parts):
                continue
            name = " / ".join(dict.fromkeys(label for label in (one, other) if label))
            for figure in parts[0]:
                values = (part[figure] for part in parts)
                yield Figure(run, a.number, b.number, direction, name, figure, *values)


def _paired(a: list[str], b: list[str]) -> Iterator[tuple[str | None, str | None]]:
    """Pair subflows of the same name, and the others in their order."""
    unmatched = [[name for name in one if name not in other] for one, other in ((a, b), (b, a))]
    pairs = dict(zip_longest(unmatched[0], unmatched[1][: len(unmatched[0])]))
    yield from ((name, pairs.get(name, name)) for name in a)
    yield from ((None, name) for name in unmatched[1][len(unmatched[0]) :])
