"""OLIA on unequal paths: what no formula says. Laws with one are in experiments/laws."""

from __future__ import annotations

from typing import Any

import polars as pl

from oracles import simulated

SEEDS = range(1, 6)


def worse_share(controller: str, seed: int) -> float:
    """The part of the traffic on a path that loses nine times as much as the other."""

    def path(ratio: str) -> dict[str, Any]:
        return {"rate": "50 Mbit/s", "delay": "20 ms", "loss": ratio, "queue": "500 kB"}

    made = {
        "schema": 1,
        "transfer": {"direction": "download", "duration": "60 s"},
        "path": {"better": path("0.1 %"), "worse": path("0.9 %")},
        # Which sends wherever there is a window, as OLIA assumes: the scheduler of Linux waits for
        # the path that would drain first, and shares are its own.
        "mptcp": {"congestion_control": controller, "scheduler": "lowest-rtt"},
        "tcp": {"initial_ssthresh": "20 packets", "undo": False},
    }
    run = simulated.simulate("olia", simulated.planned(made, seed))
    flows = run.tables.flows.filter(pl.col("direction") == "down").join(
        run.tables.subflows.select("connection", "subflow", "path"), on=["connection", "subflow"]
    )
    return float(flows.filter(path="worse")["share"].sum())


def test_olia_nearly_leaves_the_worse_path_alone() -> None:
    olia = [worse_share("olia", seed) for seed in SEEDS]
    reno = [worse_share("reno", seed) for seed in SEEDS]
    # Uncoupled: 1/√9 of the other's, a quarter of all.
    assert 0.2 < sum(reno) / len(reno) < 0.3, reno
    assert sum(olia) / len(olia) < 0.12, olia
