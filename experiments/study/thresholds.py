"""What earlier transfers leave of slow-start thresholds: ``python -m experiments.study.thresholds``.

Runs ``ssthresh-cache`` with its cache, and keeps the threshold with which the subflows of each path begin in ``thresholds.json``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

import mptcplab
from mptcplab.results.record import build
from mptcplab.study.experiment import PAPERS, Extent
from mptcplab.study.experiments import experiments

KEPT = Path(__file__).parent / "thresholds.json"
SEEDS = range(1, 9)


def main() -> None:
    """Run, and write."""
    runs = {str(seed): begun(seed) for seed in SEEDS}
    KEPT.write_text(json.dumps({"build": build(), "runs": runs}, indent=1) + "\n")


def begun(seed: int) -> dict[str, list[float]]:
    """Give the thresholds in packets with which a run's subflows begin, by path."""
    campaign: dict[str, Any] = experiments()["ssthresh-cache"].campaigns(Extent())["main"]
    axes = campaign["axis"]
    settings = axes["stack"]["points"][PAPERS] | axes["threshold"]["points"]["cached"]
    settings |= {"run.baselines": False, "run.sample": "1 s"}
    run = mptcplab.run(campaign["scenario"], seed=seed, settings=settings).mptcp
    state = run.state.filter(pl.col("cwnd_packets").is_not_null(), host="server").sort("at_ns")
    first = state.group_by("subflow", maintain_order=True).first()
    first = first.join(run.subflows.select("subflow", "path"), on="subflow").sort("subflow")
    found: dict[str, list[float]] = {}
    for path, packets in first.select("path", "ssthresh_packets").rows():
        found.setdefault(path, []).append(packets)
    return dict(sorted(found.items()))


if __name__ == "__main__":
    main()
