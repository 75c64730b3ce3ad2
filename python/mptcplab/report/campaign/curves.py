"""Distributions over the samples of all runs of a group, with bands."""

from __future__ import annotations

from array import array
from typing import get_args

import numpy as np
import polars as pl

from mptcplab.labels.text import count
from mptcplab.report.campaign.shape import Curve, Quantity
from mptcplab.report.campaign.subject import Subject
from mptcplab.results.groups import distributions
from mptcplab.results.statistics import Ccdf, ccdf_of_bins

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
    made = {quantity: _of(subject, quantity, each) for quantity in QUANTITIES}
    largest = max((int(group.runs["finished"].sum()) for group in subject.groups), default=0)
    if largest <= MOST_RUNS:
        return made, None
    return made, f"made from the first {count(MOST_RUNS)} runs of each group that finished"


def _of(subject: Subject, quantity: str, each: int) -> list[Curve]:
    used = [group.runs.filter("finished")["run"].head(MOST_RUNS) for group in subject.groups]
    bins = distributions(subject.campaign, quantity, pl.concat(used))
    found = []
    for number, own in enumerate(used):
        runs = [bins[run] for run in own if run in bins]
        if runs:
            found.append(_curve(number, ccdf_of_bins(runs), each))
    return found


def _curve(number: int, found: Ccdf, each: int) -> Curve:
    places = _places(found.probability, each)

    def column(values: tuple[float, ...]) -> array[float]:
        return array("d", [values[place] for place in places] if values else [])

    return Curve(
        number,
        found.n,
        found.samples,
        column(found.value),
        column(found.probability),
        column(found.low),
        column(found.high),
    )


def _places(probability: tuple[float, ...], each: int) -> list[int]:
    """Choose points that are even in the logarithm of the part above them, and both ends."""
    if len(probability) <= each:
        return list(range(len(probability)))
    heights = -np.log(probability)
    wanted = np.linspace(heights[0], heights[-1], each)
    # Every second one even in number: a curve that falls at once keeps its shape.
    even = np.linspace(0, len(probability) - 1, each // 2).astype(int)
    chosen = np.searchsorted(heights, wanted).clip(0, len(probability) - 1)
    return sorted({*map(int, chosen[::2]), *map(int, even), len(probability) - 1})
