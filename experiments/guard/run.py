"""What a guard is worth, and what it costs: ``python -m experiments.guard.run DIR``.

Wi-Fi goes bad in many ways for 4 s, under several loads, with Linux's path manager and with the guard, in both engines. The figures
go to ``results.json`` beside this file.
"""

from __future__ import annotations

import argparse
import json
import platform
from functools import partial
from heapq import heappop, heappush
from pathlib import Path

import polars as pl

from experiments import pool
from experiments.guard import scenarios
from mptcplab import analyze
from mptcplab.results.run import Run

ENGINES = ("simulation", "kernel")
MANAGERS = ("linux", "guard")
RESULTS = Path(__file__).parent / "results.json"
LOADS = [load for load in scenarios.LOADS if load != "idle"]


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("directory", type=Path, help="where figures of single runs are kept")
    parser.add_argument("--seeds", type=int, default=50, help="runs of each in simulation")
    parser.add_argument("--kernel-seeds", type=int, default=10, help="runs of each with the kernel")
    parser.add_argument("--fault", nargs="+", default=list(scenarios.FAULTS), help="only these")
    parser.add_argument("--load", nargs="+", default=LOADS, help="only these")
    parser.add_argument("--at-once", type=int, default=2, help="runs at once")
    given = parser.parse_args()
    counts = dict(zip(ENGINES, (given.seeds, given.kernel_seeds), strict=True))
    cases: list[tuple[str, str, str, str, bool]] = [
        (engine, fault, load, manager, backup)
        for fault in given.fault
        for load in given.load
        for backup in (False, True)
        for engine in ENGINES
        if counts[engine]
        for manager in MANAGERS
    ]
    jobs = {
        (*case, seed): job(case, seed) for case in cases for seed in range(1, counts[case[0]] + 1)
    }
    done = pool.run(jobs.values(), given.directory, given.at_once)
    names = ("engine", "fault", "load", "manager", "backup", "seed")
    rows = [
        dict(zip(names, key, strict=True)) | done[one] for key, one in jobs.items() if one in done
    ]
    RESULTS.write_text(json.dumps({"kernel": platform.release(), "rows": rows}) + "\n")


def job(case: tuple[str, str, str, str, bool], seed: int) -> pool.Job:
    """Give one run."""
    engine, fault, load, manager, backup = case
    name = "-".join([fault, load, manager, "backup" if backup else "regular"]).replace(" ", "")
    direction = "upload" if "upload" in load else "download"
    text = scenarios.text(fault, load, manager, backup=backup)
    take = partial(figures, direction="up" if direction == "upload" else "down", load=load)
    return pool.Job(name.replace("%", ""), text, engine, seed, take)


def figures(run: Run, *, direction: str, load: str) -> pool.Figures:
    """Take what is compared: times of decisions from the start, in seconds; None: never."""
    transfer = run.transfers.filter(direction=direction).row(0, named=True)
    decided = run.signals.filter(pl.col("signal").str.starts_with("guard-")).filter(host="client")
    at = {
        name: decided.filter(signal=f"guard-{name}")["at_s"].to_list()
        for name in ("suspect", "suspended", "resumed")
    }
    reused = run.segments.filter(
        (pl.col("at_s") > scenarios.COMES_S)
        & (pl.col("direction") == direction)
        & (pl.col("bytes") > 0)
    ).join(
        run.subflows.filter(path="wifi").select("connection", "subflow"),
        on=["connection", "subflow"],
    )
    new = reused.filter(pl.col("kind") == "new")
    return {
        "mbps": transfer["throughput_mbps"],
        "longest_gap_ms": transfer["longest_gap_ms"],
        "age_ms": age_ms(run, direction, scenarios.RATES_MBPS[load])
        if load in scenarios.RATES_MBPS
        else None,
        "response_ms": run.responses["response_time_ms"].max() if load == "requests" else None,
        "reused_s": new.select(pl.col("at_s").min() - scenarios.COMES_S).item(),
        "suspects": len(at["suspect"]),
        "suspended_s": at["suspended"],
        "resumed_s": at["resumed"],
    }


def age_ms(run: Run, direction: str, mbps: float) -> float:
    """Give the age of the oldest byte as it came in order, beyond that of the youngest.

    Byte n was written n / rate after the first: what is later than the earliest waited.
    """
    assert mbps is not None
    receiver = "client" if direction == "down" else "server"
    segments = analyze(run.directory / f"{receiver}.pcapng").segments
    came = segments.filter(
        (pl.col("direction") == direction)
        & (pl.col("bytes") > 0)
        & pl.col("data_offset_bytes").is_not_null()
    ).sort("at_ns")
    pending: list[tuple[int, int]] = []
    in_order = int(came["data_offset_bytes"].min())  # type: ignore[arg-type]
    ages: list[float] = []
    for at_ns, start, length in came.select("at_ns", "data_offset_bytes", "bytes").iter_rows():
        heappush(pending, (start, start + length))
        before = in_order
        while pending and pending[0][0] <= in_order:
            in_order = max(in_order, heappop(pending)[1])
        if in_order > before:
            ages.append(at_ns / 1e6 - before * 8 / (mbps * 1e3))
    return max(ages) - min(ages)


if __name__ == "__main__":
    main()
