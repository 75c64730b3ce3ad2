"""Runs of several seeds: those with the same seed, run and configuration are pairs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from mptcplab.metrics import of_runs
from mptcplab.results import figures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.results.campaign import Campaign
    from mptcplab.results.comparison import Comparison

    #: Values by seed.
    Values = dict[int, float | None]

FIGURES = tuple(one.column for one in of_runs("seeds"))


@dataclass
class Repeated:
    """Figures of runs by seed; a configuration is what its axes say, as text."""

    #: By configuration and run, then by figure.
    runs: dict[tuple[str, str], dict[str, Values]] = field(default_factory=dict)
    #: Throughput of single paths under the conditions of a configuration, by path.
    single_paths: dict[str, dict[str, Values]] = field(default_factory=dict)

    def add(self, configuration: str, run: str, seed: int, row: dict[str, Any]) -> None:
        """Take a run's figures; those of one that did not finish do not count."""
        own = self.runs.setdefault((configuration, run), {name: {} for name in FIGURES})
        for name in FIGURES:
            own[name][seed] = row[name] if row["finished"] else None

    def add_single_path(
        self, configuration: str, path: str, seed: int, row: dict[str, Any]
    ) -> None:
        """Take what plain TCP had over a path under a configuration's conditions."""
        own = self.single_paths.setdefault(configuration, {}).setdefault(path, {})
        own[seed] = row["throughput_mbps"] if row["finished"] else None


def of_comparisons(comparisons: list[Comparison]) -> Repeated:
    """Take the runs of several seeds: one configuration."""
    found = Repeated()
    for comparison in comparisons:
        for run in comparison.runs:
            tables = (list(run.tables.rows(name)) for name in figures.TABLES)
            connections, transfers, flows = tables
            row = figures.of(connections, transfers, flows, run.about["direction"])
            row["finished"] = run.outcome["finished"]
            found.add("", run.name, run.about["seed"], row)
            if run.about["path"] is not None:
                found.add_single_path("", run.about["path"], run.about["seed"], row)
    return found


def of_campaign(campaign: Campaign, axes: list[str]) -> Repeated:
    """Take the runs of a campaign, told apart by some of its axes."""
    found = Repeated()
    rows = campaign.runs.rows(named=True)
    single_paths = defaultdict(list)
    for row in rows:
        if row["path"] is not None:
            single_paths[row["pair"]].append(row)
    for row in rows:
        configuration = label(row, axes)
        run = "mptcp" if row["path"] is None else f"tcp-{row['path']}"
        found.add(configuration, run, row["seed"], row)
        if row["path"] is None:
            for single in single_paths[row["pair"]]:
                found.add_single_path(configuration, single["path"], row["seed"], single)
    return found


def label(row: dict[str, Any], axes: list[str]) -> str:
    """Name the configuration of a run; plain TCP has no value of axes that do not touch it."""
    return ", ".join(f"{axis} = {row[axis]}" for axis in axes if row[axis] is not None)
