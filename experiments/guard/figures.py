"""What is taken of a run, of either engine."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

import polars as pl

from experiments.guard.scenarios import COMES_S, DEADLY, GOES_S, PACES, REQUESTS, Case
from mptcplab import _core
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import Scenario

Frame = Callable[[str], pl.DataFrame]
Row = dict[str, Any]
DECISIONS = ("suspect", "suspended", "resumed")


def simulated(scenario: Scenario, seed: int, take: Callable[[Frame], Row]) -> Row:
    """Simulate a run; gives what is taken of it, none if it did not come to its end."""
    tables = _core.simulate(plan(scenario, seed))
    if not (tables.outcome() or {}).get("finished"):
        return {}
    return take(lambda name: pl.DataFrame(tables.table(name)))


def finished(*rows: Row) -> str:
    """Say how many runs came to their end, each beside the others where one did not."""
    tried = rows[0]["tried"]
    counts = [len(row["mbps"]) for row in rows]
    if all(count == tried for count in counts):
        return str(tried)
    return f"{' → '.join(map(str, counts))} of {tried}"


def figures(frame: Frame, case: Case) -> dict[str, Any]:
    """Take what is compared: ages and gaps in ms, times of decisions in seconds from the start; None: not, or never."""
    transfer = frame("transfers").filter(direction=case.direction).row(0, named=True)
    signals = frame("signals").filter(host="client")
    at = {
        name: [round(at_s, 3) for at_s in signals.filter(signal=f"guard-{name}")["at_s"]]
        for name in DECISIONS
    }
    gap = transfer["longest_gap_ms"]
    return {
        "mbps": round(transfer["throughput_mbps"] or 0, 3),
        "gap_ms": None if gap is None else round(gap),
        "age_ms": age_ms(frame, case),
        "reused_s": _reused_s(frame, case) if case.way in DEADLY else None,
        "suspicions": len(at["suspect"]),
        "suspended_s": at["suspended"],
        "resumed_s": at["resumed"],
    }


def age_ms(frame: Frame, case: Case) -> int | None:
    """Give the age of the oldest message as its last byte came in order, beyond the youngest's; of requests the longest response time.

    Message n was written n · size / rate after the first: what is later than the earliest waited.
    """
    if case.load in REQUESTS:
        longest = frame("responses")["response_time_ms"].max()
        assert longest is None or isinstance(longest, float)
        return None if longest is None else round(longest)
    if case.load not in PACES:
        return None
    mbps, size = PACES[case.load]
    came = frame("reordering").filter(direction=case.direction)
    written_ns = pl.col("data_offset_bytes") // size * (size * 8e3 / mbps)
    in_order_ns = pl.col("at_ns") - pl.col("at_ns").min() + pl.col("out_of_order_delay_ms") * 1e6
    # Of a burst the beginning is the youngest, so that its own time counts where nothing is wrong, too.
    ages: list[float] = came.select(age=(in_order_ns - written_ns) / 1e6)["age"].to_list()
    return round(max(ages) - min(ages))


def _reused_s(frame: Frame, case: Case) -> float | None:
    """Say how long after its return Wi-Fi carried new data; None: never, or not for so long as there was any."""
    subflows = frame("subflows").filter(path="wifi").select("connection", "subflow")
    segments = frame("segments").filter(
        (pl.col("at_s") > COMES_S) & (pl.col("kind") == "new") & (pl.col("bytes") > 0)
    )
    carried = segments.filter(direction=case.direction).join(subflows, on=["connection", "subflow"])
    first = carried["at_s"].min()
    assert first is None or isinstance(first, float)
    return None if first is None else round(first - COMES_S, 3)


def left_s(row: dict[str, Any]) -> float | None:
    """Say how long after Wi-Fi went it was left for the first time."""
    after = [at_s - GOES_S for at_s in row["suspended_s"] if at_s >= GOES_S]
    return after[0] if after else None


def typical(row: Row, name: str) -> float | None:
    """Give the median over the runs that have it."""
    values = [value for value in row[name] if value is not None]
    return median(values) if values else None


def shown(value: float | None) -> str:
    """Write it for a table."""
    return "–" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"
