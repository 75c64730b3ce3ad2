"""What cross traffic got beside a run."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import polars as pl

    Row = dict[str, Any]

#: A table of campaigns: one row per run and cross traffic, all its flows together.
TABLE = "neighbours"


def of(outcome: Row) -> list[Row]:
    """Give the rows of a run, of how it ended."""
    return [{**one, "throughput_mbps": _mbps(one)} for one in outcome.get("cross_traffic", ())]


def mbps(outcome: Row, name: str) -> float | None:
    """Give what one of them got while it was active; None where it was not there."""
    return next((row["throughput_mbps"] for row in of(outcome) if row["name"] == name), None)


def schema() -> dict[str, type[pl.DataType]]:
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
