"""Metrics over several seeds side by side: equal seed, run and configuration make a pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from statistics import stdev
from typing import Any

from mptcplab.metrics import of_runs
from mptcplab.results import run_metrics
from mptcplab.results.campaign import Campaign
from mptcplab.results.comparison import Comparison
from mptcplab.results.statistics import Estimate, Gain, Paired, adjust, gain, interval, paired
from mptcplab.results.statistics.intervals import known

#: Values by seed.
Values = dict[int, float | None]
Progress = Callable[[int, int], None]


FIGURES = tuple(one.column for one in of_runs("seeds"))


@dataclass
class Repeated:
    """Figures of runs by seed; a configuration is what its axes say, as text."""

    #: By configuration and run, then by figure.
    runs: dict[tuple[str, str], dict[str, Values]] = field(default_factory=dict)
    #: Throughput of single paths under the conditions of a configuration, by path.
    single_paths: dict[str, dict[str, Values]] = field(default_factory=dict)

    def add(self, configuration: str, run: str, seed: int, row: dict[str, Any]) -> None:
        """Add a run's figures; those of one that did not finish do not count."""
        own = self.runs.setdefault((configuration, run), {name: {} for name in FIGURES})
        for name in FIGURES:
            own[name][seed] = row[name] if row["finished"] else None

    def add_single_path(
        self, configuration: str, path: str, seed: int, row: dict[str, Any]
    ) -> None:
        """Add the figures of plain TCP over a path under a configuration's conditions."""
        own = self.single_paths.setdefault(configuration, {}).setdefault(path, {})
        own[seed] = row["throughput_mbps"] if row["finished"] else None


def of_comparisons(comparisons: list[Comparison]) -> Repeated:
    """Collect the runs of several seeds: one configuration."""
    found = Repeated()
    for comparison in comparisons:
        for run in comparison.runs:
            tables = (list(run.tables.rows(name)) for name in run_metrics.TABLES)
            connections, transfers, flows = tables
            row = run_metrics.metrics(connections, transfers, flows, run.about["direction"])
            row["finished"] = run.outcome["finished"]
            found.add("", run.name, run.about["seed"], row)
            if run.about["path"] is not None:
                found.add_single_path("", run.about["path"], run.about["seed"], row)
    return found


def of_campaign(campaign: Campaign, axes: list[str]) -> Repeated:
    """Collect the runs of a campaign, distinguished by some of its axes."""
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


CORRECTION = "benjamini-hochberg"


@dataclass(frozen=True)
class Contrast:
    """A figure of one run of one configuration, on both sides."""

    configuration: str
    run: str
    figure: str
    #: Means.
    a: Estimate
    b: Estimate
    #: Standard deviations, with n − 1.
    sigma_a: float | None
    sigma_b: float | None
    #: B over A, by seeds that both have.
    paired: Paired
    #: Its p-value, corrected over all contrasts of the document.
    p_value_corrected: float | None = None


@dataclass(frozen=True)
class Gains:
    """The gain over the best single path on both sides."""

    configuration: str
    a: Gain | None
    b: Gain | None


def contrasts(
    a: Repeated, b: Repeated, *, level: float, progress: Progress | None = None
) -> list[Contrast]:
    """Compare what both have; ``progress`` is called with the figures done, and their number."""
    shared = [
        (key, figure)
        for key in a.runs
        if key in b.runs
        for figure in FIGURES
        if any(_is_any_known(side.runs[key][figure]) for side in (a, b))
    ]
    found = []
    # What has the same values on both sides in several configurations, such as plain TCP over a
    # path that nothing touches, is tested once.
    tests: dict[Hashable, float | None] = {}
    for key, figure in shared:
        sides = a.runs[key][figure], b.runs[key][figure]
        test = (key[1], figure, *(tuple(sorted(side.items())) for side in sides))
        one = _contrast(key, figure, *sides, level)
        tests[test] = one.paired.p_value
        found.append((one, test))
        if progress is not None:
            progress(len(found), len(shared))
    corrected = dict(zip(tests, adjust(list(tests.values()), CORRECTION), strict=True))
    return [replace(one, p_value_corrected=corrected[test]) for one, test in found]


def gains(a: Repeated, b: Repeated, *, level: float) -> list[Gains]:
    """Give the gains of configurations that both have."""
    shared = [own for own, run in a.runs if run == "mptcp" and (own, run) in b.runs]
    found = [Gains(own, _gain(a, own, level), _gain(b, own, level)) for own in shared]
    return [one for one in found if one.a or one.b]


def _contrast(key: tuple[str, str], figure: str, a: Values, b: Values, level: float) -> Contrast:
    seeds = sorted(a.keys() & b.keys())
    return Contrast(
        *key,
        figure,
        a=interval(a.values(), level=level),
        b=interval(b.values(), level=level),
        sigma_a=_sigma(a),
        sigma_b=_sigma(b),
        paired=paired([b[one] for one in seeds], [a[one] for one in seeds], level=level),
    )


def _gain(repeated: Repeated, configuration: str, level: float) -> Gain | None:
    single_paths = repeated.single_paths.get(configuration)
    if not single_paths:
        return None
    multipath = repeated.runs[configuration, "mptcp"]["throughput_mbps"]
    return gain(dict(sorted(multipath.items())), single_paths, level=level)


def _is_any_known(values: Values) -> bool:
    return any(value is not None for value in values.values())


def _sigma(values: Values) -> float | None:
    found, _ = known(values.values())
    return stdev(found) if len(found) > 1 else None
