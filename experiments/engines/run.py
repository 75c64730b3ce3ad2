"""Runs every case with both engines, and keeps the figures: ``python -m experiments.engines.run DIR``.

They go to ``results.json`` beside this file, of which ``docs/generate.py`` draws the table of the documentation.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
from pathlib import Path

from experiments import pool
from experiments.engines.cases import CASES, Case
from mptcplab.results.run import Run

ENGINES = ("simulation", "kernel")
RESULTS = Path(__file__).parent / "results.json"


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("directory", type=Path, help="where figures of single runs are kept")
    parser.add_argument("--repeat", type=int, default=10, help="runs of each case and engine")
    parser.add_argument("--at-once", type=int, default=4, help="runs at once")
    parser.add_argument("--only", default="", help="regular expression: cases to run")
    parser.add_argument(
        "--engine", choices=ENGINES, help="only of this one; those of the other stay"
    )
    given = parser.parse_args()
    cases = [case for case in CASES if re.search(given.only, case.name)]
    engines = (given.engine,) if given.engine else ENGINES
    jobs = {
        (case.name, engine, seed): pool.Job(place(case), case.toml(), engine, seed, figures)
        for seed in range(1, given.repeat + 1)
        for case in cases
        for engine in engines
    }
    done = pool.run(jobs.values(), given.directory, given.at_once)
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"cases": {}}
    if "kernel" in engines:
        results["kernel"] = platform.release()
    for case in cases:
        results["cases"].setdefault(case.name, {}).update(
            {
                engine: [
                    done[job]
                    for (name, of, _), job in jobs.items()
                    if (name, of) == (case.name, engine) and job in done
                ]
                for engine in engines
            }
        )
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def place(case: Case) -> str:
    """Name its directory."""
    return re.sub(r"[^a-z0-9.]+", "-", case.name.lower()).strip("-")


def figures(run: Run) -> pool.Figures:
    """Take what is compared from a run."""
    transfer = run.transfer or {}
    connection = transfer.get("connection")
    paths = {
        row["subflow"]: row["path"] for row in run.tables.rows("subflows", connection=connection)
    }
    share = sum(
        flow["share"] or 0
        for flow in run.tables.rows("flows", connection=connection)
        if flow["direction"] == "down" and paths[flow["subflow"]] == "one"
    )
    return {
        "throughput_mbps": transfer.get("throughput_mbps"),
        "rtt_ms_mean": transfer.get("rtt_ms_mean"),
        "rtt_ms_p95": transfer.get("rtt_ms_p95"),
        "loss_rate_percent": run.loss_rate_percent,
        "share_percent": 100 * share,
        "out_of_order_delay_ms_mean": transfer.get("out_of_order_delay_ms_mean"),
    }


if __name__ == "__main__":
    main()
