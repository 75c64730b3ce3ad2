"""Metrics over the runs of each group: summaries, and values as points."""

from __future__ import annotations

import math
from array import array
from dataclasses import fields
from typing import TypeAlias

import numpy as np
import polars as pl

from mptcplab.charts.campaign.shape import Figure, Summary
from mptcplab.charts.campaign.subject import Subject
from mptcplab.charts.shape import Definition
from mptcplab.labels.text import count
from mptcplab.metrics import OF_RUNS, capital, of_runs
from mptcplab.results.statistics import Paired, adjust, box, interval, paired
from mptcplab.results.statistics.intervals import known

#: Indices of runs, and their values. ``array`` has no items at run time.
Points: TypeAlias = "tuple[array[int], array[float]]"

CORRECTION = "benjamini-hochberg"
UNKNOWN = math.nan

# What the page shows when it is opened; the time of a transfer with a duration is given.
FIRST, OF_A_DURATION = "elapsed_s", "throughput_mbps"


def figures(subject: Subject, indices: dict[str, int]) -> tuple[list[Figure], str | None]:
    """Describe all figures that are known of any run, and say which points were left out.

    ``indices`` are those of the runs by their keys.
    """
    transfer = subject.scenario["transfer"]
    timed = transfer["application"] == "bulk" and "duration" in transfer
    first = OF_A_DURATION if timed else FIRST
    shown = sorted(of_runs("campaign"), key=lambda one: one.column != first)
    names = [one.column for one in shown if subject.campaign.runs[one.column].count()]
    summaries = {name: _summary(subject, name) for name in names}
    _correct(list(summaries.values()))
    points, thinned = sampled(subject, summaries, indices)
    return [_figure(name, summaries[name], points[name]) for name in names], thinned


def _figure(name: str, summary: Summary, points: Points) -> Figure:
    metric = OF_RUNS[name]
    definition = Definition(f"{metric.table}.{name}", metric.meaning)
    return Figure(
        name,
        capital(metric.label),
        metric.unit,
        metric.logarithmic,
        definition,
        summary,
        *points,
    )


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


def _box(values: list[float]) -> dict[str, float | None]:
    found = box(values)
    return (
        {}
        if found is None
        else {
            "minimum": min(values),
            "whisker_low": found.low,
            "quartile_low": found.lower_quartile,
            "quartile_high": found.upper_quartile,
            "whisker_high": found.high,
            "maximum": max(values),
        }
    )


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


# Runs of which a page holds the value of every figure.
MOST_RUNS = 8000
# Beyond the whiskers of a box, those that are furthest out.
MOST_OUTSIDE = 40


def sampled(
    subject: Subject, summaries: dict[str, Summary], indices: dict[str, int], most: int = MOST_RUNS
) -> tuple[dict[str, Points], str | None]:
    """Choose the points of each figure, and describe what was left out.

    The first repetitions are a sample by chance, since seeds have no order that matters, and runs
    with the same seed stay together.
    """
    each = max(1, most // max(len(subject.groups), 1))
    total = sum(len(group.runs) for group in subject.groups)
    chosen = {
        figure: _points(subject, figure, summary, indices, each)
        for figure, summary in summaries.items()
    }
    if all(len(group.runs) <= each for group in subject.groups):
        return chosen, None
    note = (
        f"points: of {count(total)} runs the first {count(each)} of each group, "
        "and all that is beyond the whiskers"
    )
    return chosen, f"{note}, up to {MOST_OUTSIDE} of a group: those furthest out"


def _points(
    subject: Subject, figure: str, summary: Summary, indices: dict[str, int], each: int
) -> Points:
    run, value = array("I"), array("d")
    for number, group in enumerate(subject.groups):
        known = pl.DataFrame(
            {"run": group.runs["run"], "value": group.values(figure)},
            schema_overrides={"value": pl.Float64},
        ).with_row_index("row")
        drawn = _drawn(known.drop_nulls(), summary, number, each)
        run.extend(indices[key] for key in drawn["run"])
        value.extend(drawn["value"])
    return run, value


def _drawn(known: pl.DataFrame, summary: Summary, number: int, each: int) -> pl.DataFrame:
    if len(known) <= each:
        return known
    low, high = summary.whisker_low[number], summary.whisker_high[number]
    median = summary.median[number]
    rest = known.filter(pl.col("row") >= each)
    beyond = rest.filter((pl.col("value") < low) | (pl.col("value") > high))
    beyond = beyond.sort((pl.col("value") - median).abs(), descending=True).head(MOST_OUTSIDE)
    return pl.concat([known.filter(pl.col("row") < each), beyond]).sort("row")
