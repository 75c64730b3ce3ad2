"""Means with intervals: traffic shares, gains over the best single path, variation."""

from __future__ import annotations

from statistics import stdev

import polars as pl

from mptcplab.report.campaign.shape import Estimated, Figure
from mptcplab.report.campaign.subject import Subject
from mptcplab.results import groups
from mptcplab.results.statistics import Estimate, interval
from mptcplab.results.statistics.estimate import is_known, known

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


def gains(subject: Subject, shown: list[Figure]) -> list[Estimated]:
    """Give what MPTCP has over the best single path, pair by pair.

    Effect and p are those of the throughput: a page says each once.
    """
    made = []
    for summary in (one.summary for one in shown if one.id == "throughput_mbps"):
        for number, found in subject.gains.items():
            one = _of(number, [], found.paired.relative, found.best_path)
            one.effect = found.paired.rank_biserial
            p_value = summary.p_value[number]
            one.p_value = p_value if is_known(p_value) else None
            made.append(one)
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
