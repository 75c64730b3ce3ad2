"""A path carried next to nothing of what plain TCP gets over it."""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate

from mptcplab.results.findings.remedies import named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mptcplab.results.comparison import Comparison
    from mptcplab.results.run import Run

    Row = dict[str, Any]

UNUSED, LEAST_S, LEAST_PART = 0.05, 2.0, 0.1
# Of what the transfer has: a further path that brings less makes it longer: data waits for it.
FURTHER_PART = 1 / 6
# What uses it.
REMEDY = "the scheduler lowest-rtt with a send buffer of 16 MB"
# What the path would have brought is worth a line from here on, as for the analysis's findings.
WORTH_PART, WORTH_S = 0.05, 0.5
# Then there was nothing for the path to carry: what the window takes, and what there is, is shared.
# What arrived twice has its cost already.
LIMITS = {"receive_window", "send_buffer", "application", "short_transfer", "reinjection_waste"}


def missed_s(
    comparison: Comparison,
    others: list[Row],
    path: str,
    *,
    since_s: float = 0.0,
    beside: Mapping[str, float] | None = None,
) -> float | None:
    """Give how much sooner all would have come with what plain TCP carries over an unused path.

    The path is there ``since_s``. ``beside`` are other such paths, since when they are there, whose
    cost is counted already. None where that is not known, or not worth a line.
    """
    mptcp, alone = comparison.mptcp, comparison.baselines.get(path)
    bulk = mptcp.scenario.get("transfer", {}).get("application", "bulk") == "bulk"
    if (
        alone is None
        or not alone.throughput_mbps
        or not alone.outcome["finished"]
        or not mptcp.throughput_mbps
        or mptcp.transfer is None
        # Only this takes all that the paths give.
        or not bulk
        or LIMITS & {row["kind"] for row in others}
    ):
        return None
    elapsed_s, before = mptcp.transfer["elapsed_s"], dict(beside or {})
    without_s, with_s = (
        _elapsed_s(comparison, elapsed_s, paths) for paths in (before, before | {path: since_s})
    )
    cost_s = min(without_s - with_s, elapsed_s - sum(row["cost_s"] or 0.0 for row in others))
    return None if cost_s < min(WORTH_S, WORTH_PART * elapsed_s) else float(cost_s)


def _elapsed_s(comparison: Comparison, elapsed_s: float, paths: Mapping[str, float]) -> float:
    """Give when all would have come had these paths carried what plain TCP does, too."""
    rate = comparison.mptcp.throughput_mbps or 0.0
    added = [(_carried(comparison.baselines[path]), since_s) for path, since_s in paths.items()]
    low, high = 0.0, elapsed_s
    while high - low > 1e-4:
        middle = (low + high) / 2
        more = sum(carried(middle - since_s) for carried, since_s in added)
        low, high = (low, middle) if rate * (middle - elapsed_s) + more >= 0 else (middle, high)
    return high


def _carried(alone: Run) -> Callable[[float], float]:
    """Give how much plain TCP has carried after a time, Mbit: at first little, in slow start."""
    mean, transfer = float(alone.throughput_mbps or 0), alone.transfer
    rows = [
        row
        for row in alone.tables.rows("throughput")
        if transfer is not None
        and row["subflow"] is None
        and (row["connection"], row["direction"]) == (transfer["connection"], transfer["direction"])
    ]
    if not rows:
        return lambda after_s: max(after_s, 0.0) * mean
    times: list[float] = [row["at_s"] - rows[0]["at_s"] for row in rows]
    sums: list[float] = [0.0, *accumulate(row["bytes"] * 8e-6 for row in rows)]

    def carried(after_s: float) -> float:
        index = bisect(times, after_s) - 1
        if index < 0:
            return 0.0
        if index + 1 == len(times):
            return sums[index] + (after_s - times[index]) * mean
        part = (after_s - times[index]) / (times[index + 1] - times[index])
        return sums[index] + part * (sums[index + 1] - sums[index])

    return carried


def is_far_slower(comparison: Comparison, row: Row) -> bool:
    """Whether a finding is that paths are idle over which plain TCP carries next to nothing.

    The scheduler, or the path manager, is right to leave them: data would wait for them.
    """
    mptcp = comparison.mptcp
    if not mptcp.throughput_mbps:
        return False
    paths = {
        one["subflow"]: one["path"]
        for one in mptcp.tables.rows("subflows", connection=row["connection"])
    }
    if row["kind"] == "capacity_unused":
        idle, part = {paths.get(row["subflow"]) or ""}, LEAST_PART
    elif row["kind"] == "no_second_path":
        idle, part = set(comparison.baselines) - set(paths.values()), FURTHER_PART
    else:
        return False
    rates = [
        comparison.baselines[path].throughput_mbps for path in idle & set(comparison.baselines)
    ]
    least = part * mptcp.throughput_mbps
    return bool(rates) and all(rate is not None and 0 < rate < least for rate in rates)


def find(comparison: Comparison, others: list[Row]) -> list[Row]:
    """Name each path whose subflows carried less than 5 % of what plain TCP had over it."""
    mptcp = comparison.mptcp
    transfer = mptcp.transfer
    if transfer is None or transfer["elapsed_s"] < LEAST_S or not mptcp.throughput_mbps:
        return []
    connection = transfer["connection"]
    # What another finding explains is not reported twice; a budget, or a backup, is intended. That
    # the path was idle is reported here with its cost.
    explained = {row["subflow"] for row in others if row["kind"] != "capacity_unused"}
    # A path that was left and joined again had one subflow after another.
    paths: dict[str, list[Row]] = {}
    for subflow in mptcp.tables.rows("subflows", connection=connection):
        if subflow["handshake"] == "established":
            paths.setdefault(subflow["path"] or "", []).append(subflow)
    found = []
    for path, subflows in paths.items():
        alone = comparison.baselines.get(path)
        if alone is None or not alone.throughput_mbps or not alone.outcome["finished"]:
            continue
        numbers = {subflow["subflow"] for subflow in subflows}
        joined_s = min(subflow["join_time_ms"] or 0.0 for subflow in subflows) / 1e3
        if (
            any(subflow["backup"] for subflow in subflows)
            or numbers & explained
            or joined_s > transfer["elapsed_s"] / 2
            or alone.throughput_mbps < LEAST_PART * mptcp.throughput_mbps
        ):
            continue
        flows = mptcp.tables.rows("flows", connection=connection)
        carried = sum(
            flow["throughput_mbps"] or 0.0
            for flow in flows
            if flow["subflow"] in numbers and flow["direction"] == transfer["direction"]
        )
        if carried >= UNUSED * alone.throughput_mbps:
            continue
        cost_s = missed_s(comparison, others, path)
        if cost_s is None:
            continue
        found.append(
            {
                "kind": "path_unused",
                "subflow": _named(others, subflows),
                "cost_s": round(cost_s, 3),
                # With the send buffer of the run: a larger one may carry more.
                "cost_is_minimum": True,
                "confidence": 0.6,
                "message": f"{path} carried {carried:.2f} Mbit/s, but plain TCP over it "
                f"alone carries {alone.throughput_mbps:.2f} Mbit/s",
                "evidence": f"the rate of its subflow{'s' * (len(numbers) > 1)} over the whole "
                f"transfer, beside that of the run tcp-{path}",
                "remedy": named(REMEDY).words,
            }
        )
    return found


def _named(others: list[Row], subflows: list[Row]) -> int:
    """Give the path's subflow whose idleness is another finding, which this replaces."""
    idle = {row["subflow"] for row in others if row["kind"] == "capacity_unused"}
    numbers: list[int] = [subflow["subflow"] for subflow in subflows]
    return next((number for number in numbers if number in idle), numbers[0])
