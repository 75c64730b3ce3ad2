"""Draws the table of the documentation from ``results.json``."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from experiments.markdown import table

RESULTS = Path(__file__).parent / "results.json"
HEADS = (
    "engine",
    "path goes by",
    "load",
    "n",
    "stalled s, median (most)",
    "used again after s: least",
    "25 %",
    "median",
    "75 %",
    "90 %",
    "most",
    "never",
)


def markdown() -> str:
    """Give how long transfers stalled, and when the path was used again: least, quartiles, tenth, most."""
    rows = json.loads(RESULTS.read_text())["rows"]
    kinds = dict.fromkeys((row["engine"], row["verb"], row["load"]) for row in rows)
    cells = [_cells(kind, [row for row in rows if kind == _kind(row)]) for kind in kinds]
    return "\n".join(table(HEADS, cells)) + "\n"


def _kind(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["engine"], row["verb"], row["load"]


def _cells(kind: tuple[str, str, str], rows: list[dict[str, Any]]) -> list[str]:
    stalled = sorted(row["stalled_s"] for row in rows)
    # Who never came back while watched stands behind all others.
    used = sorted(float("inf") if row["used_s"] is None else row["used_s"] for row in rows)
    quarters = quantiles(used, n=20, method="inclusive")
    figures = [used[0], quarters[4], quarters[9], quarters[14], quarters[17], used[-1]]
    cells = ["–" if one == float("inf") or one != one else f"{one:.1f}" for one in figures]
    never = used.count(float("inf"))
    middle = f"{median(stalled):.1f} ({stalled[-1]:.1f})"
    return [*kind, str(len(rows)), middle, *cells, str(never)]
