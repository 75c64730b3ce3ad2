"""Runs under several seeds, side by side: those with the same seed are pairs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from statistics import stdev

from mptcplab.results import figures
from mptcplab.results.statistics import Estimate, Gain, Paired, adjust, gain, interval, paired
from mptcplab.results.statistics.estimate import known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.results.comparison import Comparison

    #: Values by seed.
    Values = dict[int, float | None]

FIGURES = (
    "throughput_mbps",
    "elapsed_s",
    "rtt_ms_mean",
    "rtt_ms_p95",
    "loss_rate_percent",
    "out_of_order_delay_ms_mean",
    "out_of_order_delay_ms_p95",
)
CORRECTION = "benjamini-hochberg"
# Names of runs.
MPTCP, BASELINE = "mptcp", "tcp-"


@dataclass
class Repeated:
    """Figures of runs, by configuration (its axes as text), name of the run, figure and seed."""

    runs: dict[tuple[str, str], dict[str, Values]] = field(default_factory=dict)

    def add(self, configuration: str, run: str, seed: int, row: dict[str, Any]) -> None:
        """Take a run's figures; those of one that did not finish are None."""
        own = self.runs.setdefault((configuration, run), {name: {} for name in FIGURES})
        for name in FIGURES:
            own[name][seed] = row[name]

    def gain(self, configuration: str, *, level: float, seed: int) -> Gain | None:
        """Give the gain over the best single path, where there are single paths."""
        runs = {
            name: values["throughput_mbps"]
            for (own, name), values in self.runs.items()
            if own == configuration
        }
        singles = {name.removeprefix(BASELINE): runs[name] for name in runs if name != MPTCP}
        if MPTCP not in runs or not singles:
            return None
        seeds = sorted(runs[MPTCP])
        return gain(
            [runs[MPTCP][one] for one in seeds],
            {path: [values.get(one) for one in seeds] for path, values in singles.items()},
            level=level,
            seed=seed,
        )


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


def of_comparisons(comparisons: list[Comparison]) -> Repeated:
    """Take the runs of several seeds: one configuration."""
    found = Repeated()
    for comparison in comparisons:
        for run in comparison.runs:
            transfers, flows = (list(run.tables.rows(name)) for name in ("transfers", "flows"))
            row = figures.of(transfers, flows, run.about["direction"])
            if not run.outcome["finished"]:
                row = dict.fromkeys(row)
            found.add("", run.name, run.about["seed"], row)
    return found


def contrasts(a: Repeated, b: Repeated, *, level: float, seed: int) -> list[Contrast]:
    """Compare what both have."""
    found = [
        _contrast(key, figure, a.runs[key][figure], b.runs[key][figure], level, seed)
        for key in a.runs
        if key in b.runs
        for figure in FIGURES
    ]
    corrected = adjust([one.paired.p_value for one in found], CORRECTION)
    return [
        replace(one, p_value_corrected=p_value)
        for one, p_value in zip(found, corrected, strict=True)
    ]


def gains(a: Repeated, b: Repeated, *, level: float, seed: int) -> list[Gains]:
    """Give the gains of configurations that both have."""
    shared = dict.fromkeys(own for own, run in a.runs if (own, run) in b.runs)
    found = [
        Gains(own, *(one.gain(own, level=level, seed=seed) for one in (a, b))) for own in shared
    ]
    return [one for one in found if one.a or one.b]


def _contrast(
    key: tuple[str, str], figure: str, a: Values, b: Values, level: float, seed: int
) -> Contrast:
    seeds = sorted(a.keys() & b.keys())
    return Contrast(
        *key,
        figure,
        a=interval(a.values(), level=level, seed=seed),
        b=interval(b.values(), level=level, seed=seed),
        sigma_a=_sigma(a),
        sigma_b=_sigma(b),
        paired=paired([b[one] for one in seeds], [a[one] for one in seeds], level=level, seed=seed),
    )


def _sigma(values: Values) -> float | None:
    found, _ = known(values.values())
    return stdev(found) if len(found) > 1 else None
