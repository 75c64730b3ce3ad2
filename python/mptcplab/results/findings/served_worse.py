"""MPTCP served an application that has to be in time worse than plain TCP over one path."""

from __future__ import annotations

from mptcplab.labels import quality, text
from mptcplab.labels.findings import NO_FAULT, by_cost, called
from mptcplab.results.findings.remedies import named, said
from mptcplab.results.serving import served

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.results.comparison import Comparison

    Row = dict[str, Any]

REMEDIES = ("the scheduler redundant", "the path manager guard")
# What is late counts from the first data on.
BEFORE = {"handshake_lost", "port_reused", "join_late"}
# What an application is served by, in words.
MEASURES = {
    "late_share": ("late share", ""),
    "mos": ("opinion score", ""),
    "stall_s": ("stalled", " s"),
    "video_mbps_mean": ("video", " Mbit/s"),
}


def find(comparison: Comparison, others: list[Row]) -> list[Row]:
    """Say how much worse, and what held its data up."""
    found = served(comparison)
    if found is None or not found.is_worse:
        return []
    own = found.own
    reason, span = _silent_path(comparison, own) or (_costliest(others), {})
    return [
        {
            "kind": "served_worse",
            "message": f"MPTCP served the application worse than TCP over {found.path} alone: "
            f"{quality.measure(own)}, instead of {quality.measure(found.alone)}{reason}",
            "evidence": f"MPTCP: {_measured(own)}; TCP over {found.path}: "
            f"{_measured(found.alone)}{_unlikely(found.alone, own)}",
            "remedy": said([*map(named, REMEDIES), f"{found.path} alone"]),
        }
        | span
    ]


def _silent_path(comparison: Comparison, own: Row) -> tuple[str, Row] | None:
    """Name the path that was silent when nothing new came for longest, if one was."""
    start_s, gap_ms = own.get("longest_gap_start_s"), own.get("longest_gap_ms")
    if start_s is None or gap_ms is None:
        return None
    end_s = start_s + gap_ms / 1e3
    mptcp, connection = comparison.mptcp, own["connection"]
    paths = {
        row["subflow"]: row["path"]
        for row in mptcp.tables.rows("subflows", connection=connection)
        if row["handshake"] == "established"
    }
    silent = {
        row["subflow"]
        for row in mptcp.tables.rows("events", connection=connection)
        if row["event"] == "gap"
        and row["subflow"] is not None
        and row["direction"] == own["direction"]
        and row["at_s"] < end_s
        and row["at_s"] + row["duration_ms"] / 1e3 >= end_s
    }
    # A path that had nothing to bring is silent, too.
    silent &= {
        row["subflow"]
        for row in mptcp.tables.rows("events", connection=connection)
        if row["event"] == "timeout" and start_s <= row["at_s"] <= end_s
    }
    if len(silent) != 1 or len(paths) < 2:
        return None
    (subflow,) = silent
    explanation = (
        f"; {paths.get(subflow) or 'a path'} fell silent at {text.at(start_s)}, and the "
        f"data on it arrived over another {text.seconds(gap_ms / 1e3)} later"
    )
    return explanation, {"subflow": subflow, "from_s": start_s, "to_s": end_s}


def _measured(transfer: Row) -> str:
    """List what is known of how it was served."""
    return ", ".join(
        f"{name} {transfer[column]:.3g}{unit}"
        for column, (name, unit) in MEASURES.items()
        if transfer.get(column) is not None
    )


def _unlikely(alone: Row, own: Row) -> str:
    """Say why a difference in what is late is none of chance."""
    if own.get("late_share") is None or alone.get("late_share") is None:
        return ""
    by_chance = quality.chance(alone, own)
    return (
        f"; of {quality.judged(own)} and {quality.judged(alone)}, so many more are late by chance "
        f"with a probability of {by_chance:.1g} (Fisher's exact test)"
    )


def _costliest(others: list[Row]) -> str:
    """Name the finding that costs most: what no fault caused makes no data late."""
    faults = [row for row in others if row["kind"] not in NO_FAULT | BEFORE]
    most = next(iter(by_cost(faults)), None)
    return f"; see the finding “{called(most['kind'])}”" if most is not None else ""
