"""Figures over the runs of each group: summaries, and values as points."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, fields

import numpy as np

from mptcplab.report.campaign.sample import sampled
from mptcplab.report.campaign.shape import Figure, Summary
from mptcplab.report.campaign.subject import Subject
from mptcplab.report.columns import definitions
from mptcplab.results.statistics import adjust, interval, paired
from mptcplab.results.statistics.estimate import known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.results.statistics import Paired

CORRECTION = "benjamini-hochberg"
UNKNOWN = math.nan
# Whiskers end at the last value within so many quartile distances of the box (Tukey,
# "Exploratory Data Analysis", 1977).
WHISKER = 1.5


@dataclass(frozen=True)
class Kind:
    """A figure of runs that the page can show; the name of its column is its id."""

    id: str
    name: str
    unit: str
    log: bool
    table: str = "transfers"


KINDS = (
    Kind("elapsed_s", "{transfer} time", "s", log=True),
    Kind("throughput_mbps", "Throughput", "Mbit/s", log=True),
    Kind("rtt_ms_mean", "Round-trip time, mean", "ms", log=True),
    Kind("rtt_ms_p95", "Round-trip time, 95th percentile", "ms", log=True),
    Kind("out_of_order_delay_ms_mean", "Out-of-order delay, mean", "ms", log=False),
    Kind("out_of_order_delay_ms_p95", "Out-of-order delay, 95th percentile", "ms", log=False),
    Kind("loss_rate_percent", "Loss rate", "%", log=False, table="flows"),
    Kind("coefficient_of_variation", "Coefficient of variation", "", log=False),
    Kind("reinjected_bytes", "Reinjected", "bytes", log=False),
    Kind("longest_gap_ms", "Longest gap", "ms", log=False),
)


def figures(subject: Subject, places: dict[str, int]) -> tuple[list[Figure], str | None]:
    """Describe all figures that are known of any run, and say which points were left out.

    ``places`` are those of the runs by their keys.
    """
    known_kinds = [kind for kind in KINDS if subject.campaign.runs[kind.id].count()]
    summaries = {kind.id: _summary(subject, kind.id) for kind in known_kinds}
    _correct(list(summaries.values()))
    points, thinned = sampled(subject, summaries, places)
    transfer = str(subject.scenario["transfer"]["direction"]).capitalize()
    made = [
        Figure(
            kind.id,
            kind.name.format(transfer=transfer),
            kind.unit,
            kind.log,
            definitions(kind.table, kind.id)[0],
            summaries[kind.id],
            *points[kind.id],
        )
        for kind in known_kinds
    ]
    return made, thinned


def _summary(subject: Subject, figure: str) -> Summary:
    rows = [_described(subject, number, figure) for number in range(len(subject.groups))]
    return Summary(
        **{
            column.name: array("d", [row.get(column.name, UNKNOWN) for row in rows])
            for column in fields(Summary)
        }
    )


def _described(subject: Subject, number: int, figure: str) -> dict[str, float]:
    """Give what is known of a figure of a group."""
    values, _ = known(subject.groups[number].values(figure))
    if not values:
        return {"n": 0.0}
    median = interval(values, "median")
    found: dict[str, float | None] = {
        "n": float(len(values)),
        "mean": float(np.mean(values)),
        "sigma": float(np.std(values, ddof=1)) if len(values) > 1 else None,
        "median": median.estimate,
        "median_low": median.low,
        "median_high": median.high,
        **_box(values),
    }
    if number in subject.against:
        own, other = (subject.values(one, figure) for one in (number, subject.against[number]))
        found |= _compared(paired(list(own.values()), [other.get(pair) for pair in own]))
    return {name: UNKNOWN if value is None else value for name, value in found.items()}


def _box(values: list[float]) -> dict[str, float]:
    low, high = np.quantile(values, [0.25, 0.75])
    reach = WHISKER * (high - low)
    return {
        "minimum": min(values),
        "whisker_low": min(value for value in values if value >= low - reach),
        "quartile_low": float(low),
        "quartile_high": float(high),
        "whisker_high": max(value for value in values if value <= high + reach),
        "maximum": max(values),
    }


def _compared(found: Paired) -> dict[str, float | None]:
    return {
        "difference": found.difference.estimate,
        "difference_low": found.difference.low,
        "difference_high": found.difference.high,
        "effect": found.rank_biserial,
        "p_value": found.p_value,
    }


def _correct(summaries: list[Summary]) -> None:
    """Correct the p-values of all figures and groups, which are looked at together."""
    together = [value for one in summaries for value in one.p_value]
    corrected = iter(adjust([None if math.isnan(one) else one for one in together], CORRECTION))
    for one in summaries:
        found = [next(corrected) for _ in one.p_value]
        one.p_value = array("d", [UNKNOWN if value is None else value for value in found])
