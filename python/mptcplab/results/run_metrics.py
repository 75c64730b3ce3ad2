"""The metrics of a run, from its tables: of its transfer, and of the cross traffic beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mptcplab.labels.connections import RECEIVERS, SENDERS
from mptcplab.metrics import OF_RUNS

Row = dict[str, Any]

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl


# What they are made of.
TABLES = ("connections", "transfers", "flows")
SERVER = ("server_address", "server_port")


def metrics(connections: list[Row], transfers: list[Row], flows: list[Row], direction: str) -> Row:
    """Give all figures of the transfer in a direction; all are empty where there is none."""
    own = transfer(connections, transfers, direction)
    return metrics_of(own, [] if own is None else of_transfer(flows, own))


def metrics_of(own: Row | None, flows: list[Row]) -> Row:
    """Give the figures of a transfer by its row and those of its flows; none where it has none."""
    return {name: metric.of(own, flows) for name, metric in OF_RUNS.items()}


def transfer(connections: Iterable[Row], transfers: Iterable[Row], direction: str) -> Row | None:
    """Give the row of the transfer: of its direction and of the connection with most bytes.

    Where a proxy gave either end a connection of its own it is the receiver's, for what the sender
    knows to have arrived may still be on its way to the application.
    """
    rows = {row["connection"]: row for row in transfers if row["direction"] == direction}
    ends = {row["connection"]: row for row in connections}
    largest = max(rows, key=lambda number: rows[number]["bytes"] or 0, default=None)
    if largest is None:
        return None
    if ends[largest]["vantage"] == SENDERS[direction]:
        received = (
            number
            for number in rows
            if ends[number]["vantage"] == RECEIVERS[direction]
            and all(ends[number][key] == ends[largest][key] for key in SERVER)
        )
        largest = max(received, key=lambda number: rows[number]["bytes"] or 0, default=largest)
    return rows[largest]


def of_transfer(flows: Iterable[Row], own: Row) -> list[Row]:
    """Give the flows of a transfer, of all its subflows in its direction."""
    keys = ("connection", "direction")
    return [flow for flow in flows if all(flow[key] == own[key] for key in keys)]


def schema() -> dict[str, type[pl.DataType]]:
    """Give the type of each figure in frames."""
    import polars as pl

    return {
        name: pl.UInt64 if metric.kind == "u64" else pl.Float64 for name, metric in OF_RUNS.items()
    }


#: A table of campaigns: one row per run and cross traffic, all its flows together.
NEIGHBOURS = "neighbours"


def neighbours(outcome: Row) -> list[Row]:
    """Give the rows of a run, of how it ended."""
    return [{**one, "throughput_mbps": _mbps(one)} for one in outcome.get("cross_traffic", ())]


def neighbour_mbps(outcome: Row, name: str) -> float | None:
    """Give what one of them got while it was active; None where it was not there."""
    return next(
        (row["throughput_mbps"] for row in neighbours(outcome) if row["name"] == name), None
    )


def neighbours_schema() -> dict[str, type[pl.DataType]]:
    """Give the type of each column in frames."""
    import polars as pl

    return {
        "name": pl.String,
        "bytes": pl.UInt64,
        "active_s": pl.Float64,
        "throughput_mbps": pl.Float64,
    }


def _mbps(crossed: Row) -> float | None:
    return float(crossed["bytes"] * 8 / crossed["active_s"] / 1e6) if crossed["active_s"] else None
