"""How much of a run the rows of a source cover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any


@dataclass(frozen=True)
class Span:
    """The time of a run, on the clock of its client."""

    start_ns: int
    end_ns: int


def span_of(connections: Sequence[dict[str, Any]]) -> Span | None:
    """Give the time from the first packet of all to the last one of a connection, by their rows."""
    if not connections:
        return None
    first = connections[0]
    ends = [row["start_ns"] + round((row["duration_s"] or 0) * 1e9) for row in connections]
    return Span(first["start_ns"] - round(first["start_s"] * 1e9), max(ends))


def coverage(rows: Sequence[dict[str, Any]], span: Span) -> dict[str, Any]:
    """Say how many rows there are, from when to when, and for how long of the run there is none.

    Times are in seconds from the start of the run; rows are in the order of time.
    """
    times = [row["at_ns"] for row in rows]
    within = [at for at in times if span.start_ns <= at <= span.end_ns]
    edges = [span.start_ns, *within, span.end_ns]
    return {
        "rows": len(times),
        "first_s": (times[0] - span.start_ns) / 1e9 if times else None,
        "last_s": (times[-1] - span.start_ns) / 1e9 if times else None,
        "longest_gap_s": max(end - start for start, end in pairwise(edges)) / 1e9,
    }
