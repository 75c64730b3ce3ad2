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


# Who never came back while watched stands behind all others.
NEVER = float("inf")


def markdown(part: str = "rows") -> str:
    """Give a table of how long transfers stalled, and when the path was used again (``rows``), or either in words (``sum``, ``late``)."""
    results = json.loads(RESULTS.read_text())
    if part == "sum":
        return _sum(results)
    return _late(results) if part == "late" else _rows(results["rows"])


def _sum(results: dict[str, Any]) -> str:
    """Say what Linux does."""
    rows = [row for row in results["rows"] if row["engine"] == "kernel"]
    blackouts = [row for row in rows if row["verb"] == "blackout"]
    slow, greedy = (
        median(_used([row for row in blackouts if row["load"] == load]))
        for load in ("4 Mbit/s", "greedy")
    )
    stalls = [row["stalled_s"] for row in blackouts]
    detached_s = max(_used([row for row in rows if row["verb"] == "detach"]))
    version = ".".join(results["kernel"].split(".")[:2])
    return (
        f"- The finding holds on Linux {version}: a path that comes back after a blackout lies idle for {slow:.1f} s in half of the cases under the slow\n"
        f"  download and {greedy:.1f} s under the greedy one, and up to {max(_used(blackouts)):.1f} s. How long is a matter of luck: what remains of a\n"
        "  timer that has doubled for as long as the path was away. A longer absence makes the worst case worse, not every case.\n"
        f"- Traffic itself moves away within a second in {sum(one <= 1 for one in stalls)} of {len(stalls)} blackouts, in {max(stalls):.1f} s at most; the application sees that\n"
        "  much of a gap.\n"
        f"- Where the client knows, the path is used again within {detached_s:.1f} s, since it joins anew.\n"
    )


def _late(results: dict[str, Any]) -> str:
    """Say how late the emulator was."""
    rows = [row for row in results["rows"] if row["engine"] == "kernel"]
    usual, most = (max(row[f"late_ms_{name}"] for row in rows) for name in ("p99", "max"))
    return (
        "Runs of the kernel were made beside each other on two processors that did other work too. In every one of them 99 of 100 wake-ups of the\n"
        f"emulator were late by no more than {usual:.2f} ms; the latest of all was by {most:.0f} ms.\n"
    )


def _rows(rows: list[dict[str, Any]]) -> str:
    kinds = dict.fromkeys((row["engine"], row["verb"], row["load"]) for row in rows)
    cells = [_cells(kind, [row for row in rows if kind == _kind(row)]) for kind in kinds]
    return "\n".join(table(HEADS, cells)) + "\n"


def _kind(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["engine"], row["verb"], row["load"]


def _cells(kind: tuple[str, str, str], rows: list[dict[str, Any]]) -> list[str]:
    stalled = sorted(row["stalled_s"] for row in rows)
    used = sorted(_used(rows))
    quarters = quantiles(used, n=20, method="inclusive")
    figures = [used[0], quarters[4], quarters[9], quarters[14], quarters[17], used[-1]]
    cells = ["–" if one == NEVER or one != one else f"{one:.1f}" for one in figures]
    never = used.count(NEVER)
    middle = f"{median(stalled):.1f} ({stalled[-1]:.1f})"
    return [*kind, str(len(rows)), middle, *cells, str(never)]


def _used(rows: list[dict[str, Any]]) -> list[float]:
    return [NEVER if row["used_s"] is None else row["used_s"] for row in rows]
