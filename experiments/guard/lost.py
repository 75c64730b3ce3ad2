"""When requests notice that Wi-Fi is dead, counted from what it lost: ``python -m experiments.guard.lost DIR``.

Between two requests nothing can be noticed, and when the next one comes is different with Linux and in simulation. What was found goes to ``lost.json`` beside
this file.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from experiments import pool
from experiments.guard.figures import Frame, Row, simulated
from experiments.guard.scenarios import GOES_S, Case
from experiments.markdown import table
from mptcplab.results.record import build
from mptcplab.results.run import Run

RESULTS = Path(__file__).parent / "lost.json"
CASES = (Case("blackout", "requests"), Case("blackout", "requests", "3 paths"))


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("directory", type=Path, help="where figures of runs with the kernel are")
    parser.add_argument("--seeds", type=int, default=50, help="runs of each in simulation")
    parser.add_argument("--kernel-seeds", type=int, default=10, help="runs of each with the kernel")
    parser.add_argument("--at-once", type=int, default=2, help="runs at once")
    given = parser.parse_args()
    seeds = range(1, given.seeds + 1)
    # Before threads of any kind: processes are forked.
    with ProcessPoolExecutor(given.at_once) as workers:
        found = [list(workers.map(partial(_simulated, case), seeds)) for case in CASES]
    jobs = {
        pool.Job(f"{case.name}-guard", case.text("guard"), "kernel", seed, _taken): case
        for case in CASES
        for seed in range(1, given.kernel_seeds + 1)
    }
    done = pool.run(jobs, given.directory, given.at_once)
    # Of runs that stopped nothing is taken, with either engine.
    played = [[done.get(job, {}) for job in jobs if jobs[job] == case] for case in CASES]
    rows = [
        {
            **{"way": case.way, "load": case.load, "beside": case.beside, "engine": engine},
            **{"build": build(), "tried": len(runs)},
            "runs": [[one["lost_s"], one["left_s"]] for one in runs if one],
        }
        for engine, all_runs in (("simulation", found), ("kernel", played))
        for case, runs in zip(CASES, all_runs, strict=True)
    ]
    lines = ",\n".join(json.dumps(row) for row in rows)
    RESULTS.write_text(f"[\n{lines}\n]\n")


def _simulated(case: Case, seed: int) -> Row:
    return simulated(case.read("guard"), seed, lambda frame: dict(times(frame)))


def _taken(run: Run) -> pool.Figures:
    return dict(times(lambda name: getattr(run, name)))


def times(frame: Frame) -> dict[str, float | None]:
    """Say when Wi-Fi lost the first data, and when it was left, in seconds after it went; None: never."""
    subflows = frame("subflows").filter(path="wifi").select("connection", "subflow")
    segments = frame("segments").join(subflows, on=["connection", "subflow"])
    lost = segments.filter((pl.col("at_s") >= GOES_S) & (pl.col("bytes") > 0))["at_s"].min()
    signals = frame("signals").filter(host="client", signal="guard-suspended")
    left = signals.filter(pl.col("at_s") >= GOES_S)["at_s"].min()
    return {"lost_s": _after(lost), "left_s": _after(left)}


def _after(at_s: Any) -> float | None:
    return None if at_s is None else round(at_s - GOES_S, 3)


def markdown() -> str:
    """Draw the table."""
    rows: list[Row] = json.loads(RESULTS.read_text())
    cells = []
    for row in rows:
        runs = [(lost, left) for lost, left in row["runs"] if None not in (lost, left)]
        columns = zip(*((lost, left, left - lost) for lost, left in runs), strict=True)
        shown = [f"{min(one):.2f}–{max(one):.2f}, {median(one):.2f}" for one in columns]
        cells.append([row["engine"], row["beside"] or "LTE", str(len(runs)), *shown])
    heads = ["engine", "other paths", "runs", "first data lost, s", "left, s", "left after that, s"]
    return "\n".join(table(heads, cells))


if __name__ == "__main__":
    main()
