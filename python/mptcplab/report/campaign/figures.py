"""Figures over the runs of each group: summaries, and values as points."""

from __future__ import annotations

import math
from array import array
from dataclasses import fields

import numpy as np

from mptcplab.report.campaign.sample import sampled
from mptcplab.report.campaign.shape import Figure, Summary
from mptcplab.report.campaign.subject import Subject
from mptcplab.report.columns import definitions
from mptcplab.results.figures import OF_TRANSFER
from mptcplab.results.statistics import adjust, interval, paired
from mptcplab.results.statistics.estimate import known
from mptcplab.words.figures import NAMES, capital

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.report.campaign.sample import Points
    from mptcplab.results.statistics import Paired

CORRECTION = "benjamini-hochberg"
UNKNOWN = math.nan
# Whiskers end at the last value within so many quartile distances of the box (Tukey,
# "Exploratory Data Analysis", 1977).
WHISKER = 1.5


# What the page can show of runs; whether the axis is logarithmic, where one can choose.
SHOWN = {
    "elapsed_s": True,
    "throughput_mbps": True,
    "rtt_ms_mean": True,
    "rtt_ms_p95": True,
    "out_of_order_delay_ms_mean": False,
    "out_of_order_delay_ms_p95": False,
    "response_time_ms_mean": True,
    "response_time_ms_p95": True,
    "loss_rate_percent": False,
    "coefficient_of_variation": False,
    "reinjected_bytes": False,
    "longest_gap_ms": False,
}


def figures(subject: Subject, places: dict[str, int]) -> tuple[list[Figure], str | None]:
    """Describe all figures that are known of any run, and say which points were left out.

    ``places`` are those of the runs by their keys.
    """
    names = [name for name in SHOWN if subject.campaign.runs[name].count()]
    summaries = {name: _summary(subject, name) for name in names}
    _correct(list(summaries.values()))
    points, thinned = sampled(subject, summaries, places)
    return [_figure(name, summaries[name], points[name]) for name in names], thinned


def _figure(name: str, summary: Summary, points: Points) -> Figure:
    table = "transfers" if name in OF_TRANSFER else "flows"
    words, unit = NAMES[name]
    (definition,) = definitions(table, name)
    return Figure(name, capital(words), unit, SHOWN[name], definition, summary, *points)


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
