"""Findings as people read them, on terminal and page alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mptcplab.labels import text

Row = dict[str, Any]

# Time that passed for want of data was not lost.
NO_FAULT = frozenset({"application", "short_transfer"})
# The most findings at the head of a summary.
MOST = 3


def by_cost(rows: Iterable[Row]) -> list[Row]:
    """Order findings by what they cost; of those whose cost is unknown, by how sure they are.

    What is nobody's fault stands last, however long it took.
    """
    return sorted(
        rows,
        key=lambda row: (row["kind"] in NO_FAULT, -(row["cost_s"] or 0.0), -row["confidence"]),
    )


def counted(findings: Iterable[Iterable[Row]]) -> list[tuple[str, int, float | None]]:
    """Count in how many runs each kind was found, and its median cost where that is known."""
    import statistics

    costs: dict[str, list[float]] = {}
    runs: dict[str, int] = {}
    for rows in findings:
        known: dict[str, float | None] = {}
        for row in rows:
            cost = row["cost_s"]
            before = known.get(row["kind"])
            known[row["kind"]] = before if cost is None else cost + (before or 0.0)
        for kind, cost in known.items():
            runs[kind] = runs.get(kind, 0) + 1
            if cost is not None:
                costs.setdefault(kind, []).append(cost)
    medians = {kind: statistics.median(found) for kind, found in costs.items()}
    order = sorted(runs, key=lambda kind: (-runs[kind], -(medians.get(kind) or 0.0), kind))
    return [(kind, runs[kind], medians.get(kind)) for kind in order]


def in_words(row: Row) -> str:
    """Describe a finding, and its cost where that is known."""
    message = str(row["message"])
    cost = row["cost_s"]
    if cost is None or message.endswith(" lost") or row["kind"] in NO_FAULT:
        return message
    return f"{message}: {text.seconds(cost)} lost"
