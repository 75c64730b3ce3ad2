"""The subject of a page: a connection, one direction of it, and its context."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Self

import polars as pl

from mptcplab._core import Error
from mptcplab.analysis import Analysis
from mptcplab.labels.connections import SENDERS, names_of
from mptcplab.labels.events import Change, changes
from mptcplab.labels.findings import by_cost
from mptcplab.results.choosing import choose
from mptcplab.results.comparison import Comparison
from mptcplab.results.findings import findings
from mptcplab.results.run import Run

Row = dict[str, Any]

# So much of the data's time is shown after it.
MARGIN = 0.05


@dataclass
class Subject:
    """A connection and the direction that moved most of its bytes."""

    analysis: Analysis
    connection: Row
    direction: str
    comparison: Comparison | None = None

    @classmethod
    def of(
        cls,
        source: Comparison | Analysis,
        connection: int | None = None,
        filter_by: str | None = None,
    ) -> Self:
        """Take the connection asked for, or that with most bytes of those that meet a filter."""
        comparison = source if isinstance(source, Comparison) else None
        analysis = source.mptcp if isinstance(source, Comparison) else source
        connections = analysis.connections.rows(named=True)
        if not connections:
            raise Error("there is no connection to report of")
        transfers = sorted(
            analysis.transfers.rows(named=True), key=lambda row: -(row["bytes"] or 0)
        )
        of_run = analysis.transfer if isinstance(analysis, Run) else None
        if filter_by is not None:
            chosen = choose(filter_by, connections, analysis.subflows.rows(named=True))
            if connection not in (None, *chosen):
                raise Error(f"connection {connection} does not meet {filter_by!r}")
            transfers = [row for row in transfers if row["connection"] in chosen]
            if of_run and of_run["connection"] not in chosen:
                of_run = None
            connection = chosen[0] if connection is None and not transfers else connection
        if connection is None:
            largest = of_run or next(iter(transfers), {"connection": 0})
            connection = int(largest["connection"])
        found = [row for row in connections if row["connection"] == connection]
        if not found:
            raise Error(f"there is no connection {connection}, only 0 to {len(connections) - 1}")
        own = [row["direction"] for row in transfers if row["connection"] == connection]
        direction = own[0] if own else "down"
        if of_run and connection == of_run["connection"]:
            direction = str(of_run["direction"])
        return cls(analysis, found[0], direction, comparison)

    @property
    def run(self) -> Run | None:
        """The run, where it is one and not just captures."""
        return self.analysis if isinstance(self.analysis, Run) else None

    @property
    def sender(self) -> str:
        """Which end sends the data."""
        return SENDERS[self.direction]

    @cached_property
    def subflows(self) -> list[Row]:
        """The subflows' rows."""
        return self.table("subflows").rows(named=True)

    @cached_property
    def names(self) -> dict[int, str]:
        """What the subflows are called."""
        names = names_of(self.subflows)
        return {number: names[number] or f"subflow {number}" for number in names}

    @cached_property
    def looks(self) -> dict[int, int]:
        """Numbers of the subflows' colours: their paths', in the scenario's order.

        Further subflows of a path have those that paths leave; in captures each has its own.
        """
        paths = list(self.scenario.get("path", {}))
        taken: dict[int, int] = {}
        further = count(len(paths))
        for row in self.subflows:
            number = paths.index(row["path"]) if row["path"] in paths else None
            if number is None or number in taken.values():
                number = next(further)
            taken[row["subflow"]] = number
        return taken

    @cached_property
    def transfer(self) -> Row:
        """The row of the direction in ``transfers``; empty where there is none."""
        rows = self.table("transfers").rows(named=True)
        return rows[0] if rows else {}

    @cached_property
    def flows(self) -> list[Row]:
        """The rows of the direction in ``flows``."""
        return self.table("flows").rows(named=True)

    @cached_property
    def scenario_text(self) -> str:
        """What was run, in full; empty for captures."""
        return self.run.scenario_text if self.run else ""

    @cached_property
    def scenario(self) -> dict[str, Any]:
        """The same, read."""
        return tomllib.loads(self.scenario_text)

    def path_of(self, link: str) -> str | None:
        """Name the path over a link of the scenario, where it is one."""
        paths = [
            name for name, path in self.scenario.get("path", {}).items() if path["link"] == link
        ]
        return paths[0] if len(paths) == 1 else None

    @cached_property
    def changes(self) -> list[Change]:
        """What the run's timeline did, by the time of the tables."""
        return changes(self.scenario, 0.0 if self.run is None else self.run.began_s)

    @cached_property
    def start_s(self) -> float:
        """When the connection began."""
        return float(self.connection["start_s"])

    @cached_property
    def last_s(self) -> float:
        """When its last packet came."""
        return self.start_s + float(self.connection["duration_s"] or 0)

    @cached_property
    def data_end_s(self) -> float:
        """When the data had come through; where it did not, when the last packet came.

        FINs, and data on a path that is gone, may be sent again for long after that.
        """
        number = self.connection["connection"]
        elapsed = self.analysis.transfers.filter(connection=number)["elapsed_s"].max()
        through = self.connection["ended"] not in ("open", "reset")
        if elapsed is None or not through or not (self.run is None or self.run.outcome["finished"]):
            return self.last_s
        return min(self.start_s + float(elapsed), self.last_s)  # type: ignore[arg-type]

    @cached_property
    def end_s(self) -> float:
        """Where the axis of time ends: a little after the data, or at the last packet."""
        margin = MARGIN * (self.data_end_s - self.start_s)
        return min(self.data_end_s + margin, self.last_s)

    @cached_property
    def captures(self) -> list[str]:
        """The captures that packets are in."""
        tables = ("events", "segments", "rtt", "reordering", "window")
        names = {name for table in tables for name in self.table(table)["capture"].unique()}
        return sorted(names)

    def table(self, name: str) -> pl.DataFrame:
        """Give the rows of the connection, and of the direction where the table has one."""
        frame: pl.DataFrame = getattr(self.analysis, name)
        frame = frame.filter(connection=self.connection["connection"])
        if "direction" in frame.columns and name != "events":
            # What is about both directions is about this one, too.
            own = pl.col("direction") == self.direction
            frame = frame.filter(own | pl.col("direction").is_null())
        return frame

    @cached_property
    def findings(self) -> list[Row]:
        """The findings of the connection, also from runs beside it, the costliest first."""
        if self.comparison is None:
            return by_cost(self.table("findings").rows(named=True))
        number = self.connection["connection"]
        # The page calls captures as tables do, and not by where they are.
        return by_cost(
            row | {"capture": row["capture"] and Path(row["capture"]).name}
            for row in findings(self.comparison)
            if row["connection"] == number and row["direction"] in (self.direction, None)
        )
