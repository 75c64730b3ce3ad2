"""Values of runs that are drawn as points: all, or a sample with everything unusual in it."""

from __future__ import annotations

from array import array

import polars as pl

from mptcplab.labels.text import count
from mptcplab.report.campaign.shape import Summary
from mptcplab.report.campaign.subject import Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    Points = tuple[array[int], array[float]]

# Runs of which a page holds the value of every figure.
MOST = 8000
# Beyond the whiskers of a box, those that are furthest out.
MOST_OUTSIDE = 40


def sampled(
    subject: Subject, summaries: dict[str, Summary], places: dict[str, int], most: int = MOST
) -> tuple[dict[str, Points], str | None]:
    """Choose the points of each figure, and say what was left out.

    The first repetitions are a sample by chance, since seeds have no order that matters, and runs
    with the same seed stay together.
    """
    each = max(1, most // max(len(subject.groups), 1))
    total = sum(len(group.runs) for group in subject.groups)
    chosen = {
        figure: _points(subject, figure, summary, places, each)
        for figure, summary in summaries.items()
    }
    if all(len(group.runs) <= each for group in subject.groups):
        return chosen, None
    words = (
        f"points: of {count(total)} runs the first {count(each)} of each group, "
        "and all that is beyond the whiskers"
    )
    return chosen, f"{words}, up to {MOST_OUTSIDE} of a group: those furthest out"


def _points(
    subject: Subject, figure: str, summary: Summary, places: dict[str, int], each: int
) -> Points:
    run, value = array("I"), array("d")
    for number, group in enumerate(subject.groups):
        known = pl.DataFrame(
            {"run": group.runs["run"], "value": group.values(figure)},
            schema_overrides={"value": pl.Float64},
        ).with_row_index("row")
        kept = _kept(known.drop_nulls(), summary, number, each)
        run.extend(places[key] for key in kept["run"])
        value.extend(kept["value"])
    return run, value


def _kept(known: pl.DataFrame, summary: Summary, number: int, each: int) -> pl.DataFrame:
    if len(known) <= each:
        return known
    low, high = summary.whisker_low[number], summary.whisker_high[number]
    median = summary.median[number]
    rest = known.filter(pl.col("row") >= each)
    beyond = rest.filter((pl.col("value") < low) | (pl.col("value") > high))
    beyond = beyond.sort((pl.col("value") - median).abs(), descending=True).head(MOST_OUTSIDE)
    return pl.concat([known.filter(pl.col("row") < each), beyond]).sort("row")
