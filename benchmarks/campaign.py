"""What campaigns cost beside the runs themselves: `python benchmarks/campaign.py`.

10 000 tiny simulated runs, by one worker: what remains of the time when that within the simulator is taken away. Then
a campaign of 100 000 runs, made of theirs under other keys: how long it takes to open, and to draw its page, of which size.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mptcplab
from mptcplab import _core
from mptcplab.campaign import definition
from mptcplab.campaign.matrix import Matrix
from mptcplab.results import shards
from mptcplab.results.campaign import ABOUT, PLAN, SCENARIOS, SHARDS, Campaign
from mptcplab.results.overview import configurations
from mptcplab.scenario.plan import plan

if TYPE_CHECKING:
    import polars as pl

RUNS = 10_000
COPIES = 10
OVERHEAD_GOAL_MS = 5
PAGE_GOAL_MB = 5
CAMPAIGN = {
    "schema": 1,
    "scenario": {
        "schema": 1,
        "transfer": {"direction": "download", "size": "20 kB"},
        "path": {
            "wifi": {"rate": "10 Mbit/s", "delay": "5 ms", "loss": "1 %"},
            "lte": {"rate": "8 Mbit/s", "delay": "20 ms"},
        },
    },
    "repetitions": RUNS // 5,
    "axis": {"controller": {"key": "mptcp.congestion_control", "values": ["lia", "olia", "reno"]}},
}


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        out, large = Path(directory, "out"), Path(directory, "large")
        campaign, swept_s = timed(lambda: mptcplab.sweep(CAMPAIGN, out=out, jobs=1))
        tasks = Matrix(definition.load(CAMPAIGN)).shuffled()
        plans = [plan(task.subject.scenario, task.seed, task.subject.path) for task in tasks]
        _, simulated_s = timed(lambda: [_core.simulate(one, samples=False) for one in plans])
        overhead_ms = (swept_s - simulated_s) / campaign.runs.height * 1000
        print(
            f"{campaign.runs.height:,} runs: {swept_s:.1f} s, {simulated_s:.1f} s of it in the "
            f"simulator; {overhead_ms:.2f} ms more for each, aim: below {OVERHEAD_GOAL_MS}"
        )
        enlarge(campaign, large)
        size_mb = sum(path.stat().st_size for path in large.rglob("*.parquet")) / 1e6
        runs, opened_s = timed(lambda: mptcplab.open_campaign(large).runs)
        print(f"{runs.height:,} stored runs, {size_mb:.0f} MB: opened in {opened_s:.2f} s")
        _, overview_s = timed(lambda: configurations(mptcplab.open_campaign(large)))
        print(f"  opened and summed up in {overview_s:.2f} s")
        flows, flows_s = timed(lambda: mptcplab.open_campaign(large).table("flows").collect())
        print(f"  opened, with all {flows.height:,} rows of flows, in {flows_s:.2f} s")
        page, drawn_s = timed(lambda: mptcplab.open_campaign(large).report())
        page_mb = page.stat().st_size / 1e6
        print(
            f"  drawn as a page of {page_mb:.1f} MB in {drawn_s:.0f} s, aim: below {PAGE_GOAL_MB} MB"
        )


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.perf_counter()
    return work(), time.perf_counter() - begun


def enlarge(campaign: Campaign, large: Path) -> None:
    """Store the runs of a campaign several times, under other keys and pairs."""
    import polars as pl

    (large / SHARDS).mkdir(parents=True)
    (large / ABOUT).write_text((campaign.directory / ABOUT).read_text())
    shutil.copytree(campaign.directory / SCENARIOS, large / SCENARIOS)
    pairs = campaign.plan["pair"].max()
    assert isinstance(pairs, int)
    plans = []
    stored, _ = shards.listed(campaign.directory / SHARDS)
    number = 0
    for copy in range(COPIES):

        def renamed(frame: pl.DataFrame, copy: int = copy) -> pl.DataFrame:
            keys = frame["run"].unique(maintain_order=True)
            other = [hashlib.sha256(f"{copy} {key}".encode()).hexdigest()[:16] for key in keys]
            return frame.with_columns(pl.col("run").replace_strict(keys, other))

        plans.append(renamed(campaign.plan).with_columns(pair=pl.col("pair") + copy * (pairs + 1)))
        for shard in stored:
            directory = large / SHARDS / f"{number}-{number}"
            directory.mkdir()
            number += 1
            for file in shard.path.glob("*.parquet"):
                renamed(pl.read_parquet(file)).write_parquet(directory / file.name)
            shards.seal(directory)
    pl.concat(plans).write_parquet(large / PLAN)


if __name__ == "__main__":
    main()
