"""Means with intervals: traffic shares, gains over the best single path, variation."""

from __future__ import annotations

from statistics import stdev

import polars as pl

from mptcplab.report.campaign.figures import CORRECTION
from mptcplab.report.campaign.shape import Estimated
from mptcplab.report.campaign.subject import Subject
from mptcplab.results import groups
from mptcplab.results.statistics import Estimate, adjust, interval
from mptcplab.results.statistics.intervals import known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def shares(subject: Subject) -> list[Estimated]:
    """Give the part of the delivered bytes that each path carried, with MPTCP."""
    found = groups.shares(subject.campaign)
    made = []
    for number, group in enumerate(subject.groups):
        if group.path is not None:
            continue
        finished = group.runs.filter(pl.col("finished"))
        own = found.join(finished, on="run", how="semi")
        for path in subject.paths:
            values = own.filter(path=path)["share"].to_list()
            made.append(_of(number, values, interval(values), path))
    return made


def gains(subject: Subject) -> list[Estimated]:
    """Give what MPTCP has over the best single path, pair by pair.

    They are one question in each configuration: p is corrected over those.
    """
    made = []
    for number, found in subject.gains.items():
        one = _of(number, [], found.paired.relative, found.best_path)
        if found.all_finished:
            one.effect, one.p_value = found.paired.rank_biserial, found.paired.p_value
        made.append(one)
    for one, corrected in zip(made, adjust([one.p_value for one in made], CORRECTION), strict=True):
        one.p_value = corrected
    return made


def variation(subject: Subject) -> Iterator[Estimated]:
    """Give the mean coefficient of variation of the throughput within runs."""
    for number, group in enumerate(subject.groups):
        values = group.values("coefficient_of_variation")
        if known(values)[0]:
            yield _of(number, values, interval(values))


def _of(
    number: int, values: list[float | None], found: Estimate, part: str | None = None
) -> Estimated:
    there, _ = known(values)
    return Estimated(
        group=number,
        n=found.n,
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        sigma=stdev(there) if len(there) > 1 else None,
        part=part,
    )
