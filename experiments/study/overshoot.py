"""What a full queue drops while paths begin, of all that is lost: ``python -m experiments.study.overshoot``.

Runs ``eight-subflows`` and plain TCP over each of its paths, and keeps what was lost of each path, and what of it slow start overshot, in
``overshoot.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

import mptcplab
from mptcplab.results.record import build
from mptcplab.study.experiment import PAPERS, Extent
from mptcplab.study.experiments import experiments

KEPT = Path(__file__).parent / "overshoot.json"
SEEDS = range(1, 11)
# Slow start is over by then, alone and within MPTCP.
BEGINNING_S = 5


def main() -> None:
    """Run, and write."""
    networks = {
        name: list(map(list, summed(row for seed in SEEDS for row in lost(campaign, seed))))
        for name, campaign in experiments()["eight-subflows"].campaigns(Extent()).items()
    }
    kept = {"build": build(), "seeds": len(SEEDS), "networks": networks}
    KEPT.write_text(json.dumps(kept, indent=1) + "\n")


def lost(campaign: dict[str, Any], seed: int) -> Iterator[tuple[str, str, int, int]]:
    """Give what each path lost of a run's downloads, alone and within MPTCP: packets, and those that slow start overshot."""
    settings = campaign["axis"]["stack"]["points"][PAPERS] | {"run.sample": "1 s"}
    run = mptcplab.run(campaign["scenario"], seed=seed, settings=settings)
    for how, one in (("mptcp", run.mptcp), *(("alone", alone) for alone in run.baselines.values())):
        overshot = (pl.col("reason") == "queue-full") & (pl.col("at_s") < BEGINNING_S)
        drops = one.drops.filter(pl.col("direction") == "down")
        found = drops.group_by("place").agg(pl.len(), overshot.sum().alias("overshot"))
        for path, packets, early in found.rows():
            yield path, how, packets, early


def summed(rows: Iterator[tuple[str, str, int, int]]) -> Iterator[tuple[str, str, int, int]]:
    """Add them up by path, and by whether the path was alone."""
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for path, how, packets, early in rows:
        before = sums.get((path, how), (0, 0))
        sums[path, how] = (before[0] + packets, before[1] + early)
    for (path, how), (packets, early) in sorted(sums.items()):
        yield path, how, packets, early


if __name__ == "__main__":
    main()
