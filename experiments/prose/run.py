"""What the documentation says in passing, measured: ``python -m experiments.prose.run [NAME …]``.

Simulates what a sentence of a page or a comment of a scenario gives figures of, over the seeds that it names, and keeps
them in ``results.json``, from which ``table.py`` writes the sentences.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import mptcplab
from mptcplab import _core
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

RESULTS = Path(__file__).parent / "results.json"
SCHEDULERS: dict[str, dict[str, Any]] = {
    "blest": {"scheduler": "blest"},
    "ecf": {"scheduler": "ecf"},
    "lowest-rtt": {"scheduler": "lowest-rtt"},
    "lowest-rtt alone": {
        "scheduler": "lowest-rtt",
        "opportunistic_retransmission": False,
        "penalisation": False,
    },
}
SCHEDULER_SEEDS = 8
CONTROLLERS = ("lia", "olia", "reno")
SEEDS = 20
JOINS = ("specified", "simultaneous")

Figures = dict[str, Any]


def main() -> None:
    """Measure those that are named, or all."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for name in sys.argv[1:] or MEASURED:
            kept[name] = MEASURED[name](pool)
            print(name, json.dumps(kept[name]), file=sys.stderr, flush=True)
            ordered = {name: kept[name] for name in MEASURED if name in kept}
            RESULTS.write_text(json.dumps(ordered, indent=1) + "\n")


def schedulers(pool: ProcessPoolExecutor) -> Figures:
    """Time a download over unequal paths with a small receive buffer, by scheduler."""
    jobs = {name: range(1, SCHEDULER_SEEDS + 1) for name in SCHEDULERS}
    return {
        name: fmean(pool.map(_elapsed_s, [name] * len(seeds), seeds))
        for name, seeds in jobs.items()
    }


def _elapsed_s(name: str, seed: int) -> float:
    path = {"queue": "128 kB", "loss": "0.05 %"}
    table = {
        "schema": 1,
        "transfer": {"direction": "download", "size": "10 MB"},
        "path": {
            "fast": path | {"rate": "20 Mbit/s", "delay": "10 ms"},
            "slow": path | {"rate": "1 Mbit/s", "delay": "150 ms"},
        },
        "mptcp": SCHEDULERS[name] | {"congestion_control": "reno"},
        "tcp": {"receive_buffer": "128 kB", "max_receive_buffer": "128 kB"},
    }
    (row,) = (
        row for row in _simulated(table, seed).rows("transfers") if row["direction"] == "down"
    )
    return float(row["elapsed_s"])


def _simulated(table: dict[str, Any], seed: int) -> Any:
    return _core.simulate(plan(load(table)[1], seed, None))


def joins(pool: ProcessPoolExecutor) -> Figures:
    """Say when the second path's first data arrives, by how it joins."""
    return dict(zip(JOINS, pool.map(_first_data_ms, JOINS), strict=True))


def _first_data_ms(join: str) -> float:
    table = {
        "schema": 1,
        "transfer": {"direction": "download", "size": "2 MB"},
        "path": {
            "wifi": {"rate": "20 Mbit/s", "delay": "10 ms", "queue": "100 kB"},
            "lte": {"rate": "10 Mbit/s", "delay": "25 ms", "queue": "100 kB"},
        },
        "mptcp": {"join": join, "path_manager": "full-mesh"},
        "run": {"processing": "0 ns"},
    }
    rows = _simulated(table, 1).rows("reordering")
    arrivals = (row["at_s"] for row in rows if row["subflow"] == 1 and row["direction"] == "down")
    return 1000 * float(min(arrivals))


def gain(pool: ProcessPoolExecutor) -> Figures:
    """Give what MPTCP gains over the best single path, over many seeds, and in the example for Python."""
    gains = list(pool.map(_gain, range(1, SEEDS + 1)))
    return {
        "mean": fmean(gains),
        "sigma": stdev(gains),
        "example": _gain(7, "path.wifi.rate=10 Mbit/s"),
    }


def _gain(seed: int, *settings: str) -> float:
    return float(mptcplab.run("wifi-lte", seed=seed, settings=settings).gain or 0)


def bottleneck(pool: ProcessPoolExecutor) -> Figures:
    """Give what a controller has at a shared bottleneck, and the neighbour beside it."""
    found: Figures = {}
    for controller in CONTROLLERS:
        both = list(pool.map(_shares_mbps, [controller] * SEEDS, range(1, SEEDS + 1)))
        for who, values in zip(("own", "neighbour"), zip(*both, strict=True), strict=True):
            found.setdefault(controller, {})[who] = {"mean": fmean(values), "sigma": stdev(values)}
    return found


def _shares_mbps(controller: str, seed: int) -> tuple[float, float]:
    settings = [f"mptcp.congestion_control={controller}"]
    run = mptcplab.run("shared-bottleneck", seed=seed, settings=settings, baselines=False).mptcp
    (neighbour,) = run.outcome["cross_traffic"]
    return run.throughput_mbps or 0, neighbour["bytes"] * 8e-6 / neighbour["active_s"]


MEASURED: dict[str, Callable[[ProcessPoolExecutor], Figures]] = {
    "schedulers": schedulers,
    "joins": joins,
    "gain": gain,
    "bottleneck": bottleneck,
}

if __name__ == "__main__":
    main()
