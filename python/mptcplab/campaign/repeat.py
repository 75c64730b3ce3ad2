"""Runs of a campaign with all their samples: kept, or run again."""

from __future__ import annotations

import tomllib

from mptcplab._core import Error
from mptcplab.engines import named
from mptcplab.results.campaign import RUNS, Campaign
from mptcplab.results.comparison import Comparison
from mptcplab.results.record import OwnedDirectory, with_baselines
from mptcplab.results.run import ABOUT, Run
from mptcplab.scenario.scenario import load


def again(campaign: Campaign, key: str) -> Comparison | Run:
    """Give a run, with MPTCP beside its baselines where it has to be run again.

    Raises:
        Error: There is no such run, or it is of a kind that no second run is the same as.
    """
    planned = campaign.plan.filter(run=key).rows(named=True)
    if not planned:
        raise Error(f"{campaign.directory} has no run {key}")
    if (campaign.directory / RUNS / key / ABOUT).exists():
        return campaign.run(key)
    if named(campaign.about["engine"]).real_time:
        raise Error(
            f"run {key} cannot be repeated: it was measured in real time. Campaigns with "
            'keep = "runs" keep the directory of each run'
        )
    row = planned[0]
    _, scenario = load(tomllib.loads(campaign.scenario(key)))
    owned = OwnedDirectory()
    comparison = with_baselines(
        campaign.about["scenario"],
        scenario,
        owned.directory,
        seed=row["seed"],
        baselines=True,
        captures="none",
        owned=owned,
    )
    run = comparison.mptcp if row["path"] is None else comparison.baselines[row["path"]]
    _check_same(campaign, key, run)
    return comparison if row["path"] is None else run


def _check_same(campaign: Campaign, key: str, run: Run) -> None:
    """Refuse to show a run that is not the one that was asked for."""
    measured = campaign.runs.filter(run=key)["throughput_mbps"].to_list()
    if measured and measured[0] != run.throughput_mbps:
        raise Error(
            f"run {key} cannot be repeated: build {campaign.about['build']} of mptcplab ran it, "
            "and this one gives something else. mptcplab sweep runs the campaign with this one"
        )
