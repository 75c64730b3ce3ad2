"""Quantities of runs, as experiments name them: ``{ path = "att", in = "amherst" }``.

Each is a method of ``Sample``, or a function here, with its arguments. ``in`` is the campaign and
``with`` the labels of its axes; of a list of labels the mean over all of them is taken, seed by
seed. ``ratio`` and ``sum`` are of other quantities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise, product

from mptcplab.study import judging

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from mptcplab.study.judging import Ratio, Values
    from mptcplab.study.measured import Measured, Sample

    Table = dict[str, Any]

SCOPE = ("in", "with", "stack")
#: Which argument is a column, by the quantity's name; and the column where it is left out.
COLUMNS = {"figure": 0, "transfer": 0, "alone": 1, "path": 1, "subflow": 2}
THROUGHPUT = "throughput_mbps"
UNITS = {"mbps": "Mbit/s", "ms": "ms", "s": "s", "percent": "%"}
OTHER_UNITS = {
    "between": "Mbit/s",
    "best_alone": "Mbit/s",
    "shortest_at_the_sender": "ms",
    "seconds_ahead": "%",
    "peak": "Mbit/s",
    "ramp": "s",
}
#: A visit to a network counts as used if so much passes over a subflow in it.
USED_BYTES = 50_000
#: A time without losses counts if it is as long.
CALM_S = 5


@dataclass(frozen=True)
class Scope:
    """Which runs are meant."""

    campaign: str = "main"
    labels: Table = field(default_factory=dict)
    stack: str | None = None

    def narrowed(self, table: Table) -> Scope:
        """Give the scope with what a table says more closely."""
        labels = self.labels | table.get("with", {})
        return Scope(table.get("in", self.campaign), labels, table.get("stack", self.stack))

    def samples(self, measured: Measured) -> Iterator[Sample]:
        """Give the runs of each configuration."""
        values = [one if isinstance(one, list) else [one] for one in self.labels.values()]
        for labels in product(*values):
            chosen = dict(zip(self.labels, labels, strict=True))
            yield measured.sample(self.campaign, self.stack, **chosen)


def values(measured: Measured, quantity: Table, scope: Scope) -> Values | Ratio:
    """Give a quantity of each run, or a ratio of two."""
    scope = scope.narrowed(quantity)
    name, given = named(quantity)
    if name in ("ratio", "sum"):
        first, second = (of_runs(measured, one, scope) for one in given)
        return judging.Ratio(first, second) if name == "ratio" else _sum(first, second)
    found = [
        OWN[name](sample, *given) if name in OWN else getattr(sample, name)(*given)
        for sample in scope.samples(measured)
    ]
    return judging.over(*found) if len(found) > 1 else found[0]


def of_runs(measured: Measured, quantity: Table, scope: Scope) -> Values:
    """Give a quantity of each run."""
    found = values(measured, quantity, scope)
    assert not isinstance(found, judging.Ratio)  # noqa: S101 - ratios are not of ratios
    return found


def named(quantity: Table) -> tuple[str, list[Any]]:
    """Give the name of a quantity and its arguments; ``true`` is none."""
    ((name, given),) = ((key, one) for key, one in quantity.items() if key not in SCOPE)
    if given is True:
        return name, []
    return name, given if isinstance(given, list) else [given]


def unit(quantity: Table) -> str:
    """Give the unit of a quantity, which its column ends with."""
    name, given = named(quantity)
    if name not in COLUMNS:
        return OTHER_UNITS.get(name, "")
    column = given[COLUMNS[name]] if len(given) > COLUMNS[name] else THROUGHPUT
    return next((UNITS[part] for part in column.split("_") if part in UNITS), "")


def variation(sample: Sample, path: str, seconds: int) -> Values:
    """Give the coefficient of variation of each run's throughput, of bins of 1 s as they are."""
    found = {}
    for (run,), bins in sample.bins(path).group_by("run"):
        carried = dict(zip(bins["at_s"].round(0).to_list(), bins["bytes"].to_list(), strict=True))
        series = [carried.get(float(second), 0) for second in range(seconds)]
        mean = sum(series) / len(series)
        square = sum((one - mean) ** 2 for one in series) / (len(series) - 1)
        found[run] = math.sqrt(square) / mean if mean else None
    return [found.get(run) for run in sample.runs["run"]]


def seconds_ahead(sample: Sample, first: str, second: str) -> Values:
    """Give the percentage of seconds in which a path carries more than another, of each run."""
    one, other = (sample.bins(path) for path in (first, second))
    both = one.join(other, on=["run", "at_s"], how="full", coalesce=True, suffix="_other")
    found = {
        run: 100 * int((bins["bytes"] > bins["bytes_other"]).sum()) / bins.height
        for (run,), bins in both.fill_null(0).group_by("run")
    }
    return [found.get(run) for run in sample.runs["run"]]


def carried_share(sample: Sample, path: str) -> Values:
    """Give a path's share of the bytes: none of a path that carried nothing."""
    return [one or 0.0 for one in sample.path(path, "share")]


def window_rate(sample: Sample, window_bytes: int) -> Values:
    """Give the rate of a window per mean round trip, in Mbit/s."""
    times = sample.figure("rtt_ms_mean")
    return [None if rtt is None else window_bytes * 8e-3 / rtt for rtt in times]


def in_order(sample: Sample) -> Values:
    """Count the segments that arrive in order at connection level."""
    late, every = map(sample.transfer, ("out_of_order_segments", "reordering_segments"))
    return [
        None if one is None or all_ is None else all_ - one
        for one, all_ in zip(late, every, strict=True)
    ]


def peak(sample: Sample) -> Values:
    """Give the throughput in the best second of each run, in Mbit/s."""
    most: dict[Any, float] = {
        run: 8e-6 * max(bins["bytes"]) for (run,), bins in sample.bins().group_by("run")
    }
    return [most.get(run) for run in sample.runs["run"]]


def ramp(sample: Sample, path: str, start_s: int, level_from_s: int, end_s: int) -> Values:
    """Give how long a path takes from a time on until a second has its later mean, of each run."""
    found: dict[str, float | None] = {}
    for (run,), bins in sample.bins(path).group_by("run"):
        carried = dict(zip(bins["at_s"].round(0).to_list(), bins["bytes"].to_list(), strict=True))
        series = [carried.get(float(second), 0) for second in range(end_s)]
        later = series[level_from_s:]
        level = sum(later) / len(later)
        reached = (at for at in range(start_s, end_s) if series[at] >= level)
        at = next(reached, None) if level else None
        found[str(run)] = None if at is None else at + 1.0 - start_s
    return [found.get(run) for run in sample.runs["run"]]


def rise(sample: Sample, path: str, number: int) -> Values:
    """Give by which factor a subflow's round trips grow between losses, on average of each run.

    It is that of the last third of a time without losses to its first third.
    """
    lost = sample.retransmissions(path, number)
    found: dict[str, float] = {}
    for run, times in sample.rtt_samples(path, number).items():
        calm = [(a, b) for a, b in pairwise(lost.get(run, [])) if b - a >= CALM_S]
        growth = [
            math.log(last / first)
            for start, end in calm
            if (first := _mean(times, start, end - 2 * (end - start) / 3))
            and (last := _mean(times, end - (end - start) / 3, end))
        ]
        if growth:
            found[run] = math.exp(sum(growth) / len(growth))
    return [found.get(run) for run in sample.runs["run"]]


def back_off(sample: Sample, path: str, number: int, start_s: float, end_s: float) -> Values:
    """Give by which factor a subflow's pauses between time-outs grow, on average of each run."""
    found: dict[str, float] = {}
    for run, times in sample.timeouts(path, number, start_s, end_s).items():
        pauses = [later - earlier for earlier, later in pairwise(times)]
        growth = [later / earlier for earlier, later in pairwise(pauses)]
        if growth:
            found[run] = sum(growth) / len(growth)
    return [found.get(run) for run in sample.runs["run"]]


def longest_outside(
    sample: Sample, path: str, number: int, low_ms: float, high_ms: float
) -> list[bool | None]:
    """Say of each run whether a subflow's longest round trip is outside a span."""
    longest = sample.subflow(path, number, "rtt_ms_max")
    return [None if one is None else not low_ms <= one <= high_ms for one in longest]


def within(sample: Sample, path: str, low_ms: float, high_ms: float) -> Values:
    """Count the round trips over a path within a span; bins that it cuts are not within it."""
    return sample.samples("rtt", path, low_ms, high_ms)[0]


def round_trips(sample: Sample, path: str) -> Values:
    """Count all round trips over a path."""
    return sample.samples("rtt", path, 0, math.inf)[1]


def missed(sample: Sample, path: str, starts_s: list[int], stay_s: int) -> list[bool]:
    """Say of each run whether one of the path's two subflows let a visit pass by."""
    return [
        any(
            sample.carried(run, start, start + stay_s, path, number) <= USED_BYTES
            for start in starts_s
            for number in (1, 2)
        )
        for run in sample.runs["run"]
    ]


def unseen_by_the_server(sample: Sample) -> list[bool]:
    """Say of each run whether the server saw no connection."""
    return [not one for one in sample.seen_by_the_server()]


def one_subflow(sample: Sample) -> list[bool]:
    """Say of each run whether one subflow was established."""
    return [one == 1 for one in _established(sample)]


def several_subflows(sample: Sample) -> list[bool]:
    """Say of each run whether more than one subflow was established."""
    return [one > 1 for one in _established(sample)]


def _mean(times: list[tuple[float, float]], start: float, end: float) -> float | None:
    """Give the mean of what lies within a time."""
    own = [value for at, value in times if start <= at < end]
    return sum(own) / len(own) if own else None


def _established(sample: Sample) -> list[int]:
    found = sample.established()
    return [found.get(run, 0) for run in sample.runs["run"]]


def _sum(first: Values, second: Values) -> Values:
    return [
        None if one is None or other is None else one + other
        for one, other in zip(first, second, strict=True)
    ]


OWN: dict[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (
        variation,
        seconds_ahead,
        carried_share,
        window_rate,
        in_order,
        within,
        round_trips,
        missed,
        unseen_by_the_server,
        one_subflow,
        several_subflows,
        peak,
        ramp,
        rise,
        back_off,
        longest_outside,
    )
}
