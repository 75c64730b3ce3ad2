"""What is estimated over the runs of each group: means with intervals, distributions, pairs."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import combinations
from statistics import stdev
from typing import get_args

import numpy as np
import polars as pl

from mptcplab.charts.campaign.shape import Curve, Estimated, Quantity, Sides
from mptcplab.charts.campaign.subject import Subject
from mptcplab.charts.campaign.summaries import CORRECTION
from mptcplab.labels.text import count
from mptcplab.results import groups
from mptcplab.results.groups import distributions
from mptcplab.results.groups import versus as beside
from mptcplab.results.statistics import Ccdf, Estimate, adjust, ccdf_of_bins, interval
from mptcplab.results.statistics.intervals import known


def shares(subject: Subject) -> list[Estimated]:
    """Give the part of the delivered bytes that each path carried, with MPTCP."""
    found = groups.shares(subject.campaign)
    estimates = []
    for number, group in enumerate(subject.groups):
        if group.path is not None:
            continue
        finished = group.runs.filter(pl.col("finished"))
        own = found.join(finished, on="run", how="semi")
        for path in subject.paths:
            values = own.filter(path=path)["share"].to_list()
            estimates.append(_estimated(number, values, interval(values), path))
    return estimates


def gains(subject: Subject) -> list[Estimated]:
    """Give what MPTCP has over the best single path, pair by pair.

    They are one question in each configuration: p is corrected over those.
    """
    found = []
    for number, gain in subject.gains.items():
        one = _estimated(number, [], gain.paired.relative, gain.best_path)
        if gain.all_finished:
            one.effect, one.p_value = gain.paired.rank_biserial, gain.paired.p_value
        found.append(one)
    p_values = adjust([one.p_value for one in found], CORRECTION)
    for one, corrected in zip(found, p_values, strict=True):
        one.p_value = corrected
    return found


def variation(subject: Subject) -> Iterator[Estimated]:
    """Give the mean coefficient of variation of the throughput within runs."""
    for number, group in enumerate(subject.groups):
        values = group.values("coefficient_of_variation")
        if known(values)[0]:
            yield _estimated(number, values, interval(values))


def _estimated(
    number: int, values: list[float | None], found: Estimate, part: str | None = None
) -> Estimated:
    numbers, _ = known(values)
    return Estimated(
        group=number,
        n=found.n,
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        sigma=stdev(numbers) if len(numbers) > 1 else None,
        part=part,
    )


QUANTITIES = get_args(Quantity)
# Runs of a group that a curve is made from.
MOST_RUNS = 300
# Points of a page's curves, and of a single one.
MOST_POINTS = 40_000
FEWEST, MOST = 24, 160


def curves(subject: Subject) -> tuple[dict[Quantity, list[Curve]], str | None]:
    """Give the curves of round-trip times and out-of-order delays, and what was left out."""
    each = MOST_POINTS // (len(QUANTITIES) * max(len(subject.groups), 1))
    each = min(max(each, FEWEST), MOST)
    found = {quantity: _curves(subject, quantity, each) for quantity in QUANTITIES}
    largest = max((int(group.runs["finished"].sum()) for group in subject.groups), default=0)
    if largest <= MOST_RUNS:
        return found, None
    return found, f"made from the first {count(MOST_RUNS)} runs of each group that finished"


def _curves(subject: Subject, quantity: str, each: int) -> list[Curve]:
    used = [group.runs.filter("finished")["run"].head(MOST_RUNS) for group in subject.groups]
    bins = distributions(subject.campaign, quantity, pl.concat(used))
    found = []
    for number, own in enumerate(used):
        runs = [bins[run] for run in own if run in bins]
        if runs:
            found.append(_curve(number, ccdf_of_bins(runs), each))
    return found


def _curve(number: int, found: Ccdf, each: int) -> Curve:
    indices = _indices(found.probability, each)

    def column(values: tuple[float, ...]) -> array[float]:
        return array("d", [values[index] for index in indices] if values else [])

    return Curve(
        number,
        found.n,
        found.samples,
        column(found.value),
        column(found.probability),
        column(found.low),
        column(found.high),
    )


def _indices(probability: tuple[float, ...], each: int) -> list[int]:
    """Choose points that are even in the logarithm of the part above them, and both ends."""
    if len(probability) <= each:
        return list(range(len(probability)))
    heights = -np.log(probability)
    wanted = np.linspace(heights[0], heights[-1], each)
    # Every second one even in number: a curve that falls at once keeps its shape.
    even = np.linspace(0, len(probability) - 1, each // 2).astype(int)
    chosen = np.searchsorted(heights, wanted).clip(0, len(probability) - 1)
    return sorted({*map(int, chosen[::2]), *map(int, even), len(probability) - 1})


def sides(subject: Subject) -> list[Sides]:
    """Count for plain TCP over each two paths, and for MPTCP and plain TCP over each path."""
    together = {
        *((number, one) for number, plain in subject.beside.items() for one in plain),
        *(two for plain in subject.beside.values() for two in combinations(plain, 2)),
    }
    return list(_counts(subject, sorted(together)))


def _counts(subject: Subject, together: list[tuple[int, int]]) -> Iterator[Sides]:
    for one, other in together:
        first, second = subject.groups[one], subject.groups[other]
        both = pl.concat([first.runs, second.runs])
        found = beside(both, first.path, second.path, "throughput_mbps")
        same = len(found.one) - found.more - found.less
        yield Sides(one, other, found.more, found.less, same)
