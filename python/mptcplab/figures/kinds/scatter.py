"""Throughput over one path against that over another."""

from __future__ import annotations

from mptcplab._core import Error
from mptcplab.figures.groups import MPTCP, contenders_of, few
from mptcplab.figures.paper import COLOURS, MARKERS, NEUTRAL
from mptcplab.figures.registry import CAMPAIGN, register
from mptcplab.metrics import OF_RUNS
from mptcplab.results.groups import groups, paths, versus, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from mptcplab.figures.choice import Choice
    from mptcplab.figures.paper import Paper
    from mptcplab.results.campaign import Campaign


@register("scatter", CAMPAIGN, "by", "where", "paths", "value")
def draw(paper: Paper, campaign: Campaign, choice: Choice) -> str:
    """Throughput (or another value) over two paths against each other, run by run."""
    value = choice.metric("throughput_mbps")
    contenders_of(campaign, choice)
    pair = choice.paths or paths(campaign)[:2]
    if len(pair) != 2 or len(choice.by) > 1:
        raise Error("scatter takes two paths, and at most one axis")
    one, other = (None if name == MPTCP else name for name in pair)
    axes = paper.subplots()
    largest = 0.0
    more = less = 0
    split = _split(campaign, choice)
    few(split)
    for number, (name, runs) in enumerate(split.items()):
        found = versus(runs, one, other, value)
        if not found.one:
            continue
        axes.plot(
            found.one,
            found.other,
            MARKERS[number],
            color=COLOURS[number],
            markersize=2.2,
            markeredgewidth=0,
            alpha=0.75,
            label=name,
        )
        largest = max(largest, *found.one, *found.other)
        more, less = more + found.more, less + found.less
    if not largest:
        raise Error(f"{campaign.directory}: no runs of {' and '.join(pair)} have {value}")
    limit = 1.05 * largest
    axes.plot([0, limit], [0, limit], "--", color=NEUTRAL, linewidth=0.8)
    axes.set(xlim=(0, limit), ylim=(0, limit), aspect="equal")
    axes.set_xlabel(_named(value, pair[0]))
    axes.set_ylabel(_named(value, pair[1]))
    for place, words, aligned in (
        ((0.03, 0.97), f"{less} above", ("left", "top")),
        ((0.97, 0.03), f"{more} below", ("right", "bottom")),
    ):
        across, up = aligned
        axes.text(*place, words, ha=across, va=up, transform=axes.transAxes, color=NEUTRAL)
    if len(split) > 1:
        paper.legend_above(*axes.get_legend_handles_labels())
    return (
        f"{OF_RUNS[value].axis}, {' and '.join(pair)} under the same conditions; above the line of "
        f"equals {pair[1]} had more ({less}), below it {pair[0]} ({more})."
    )


def _split(campaign: Campaign, choice: Choice) -> dict[str, pl.DataFrame]:
    """Give the runs to set against each other, by value of an axis."""
    runs = where(campaign, choice.where)
    if not choice.by:
        return {"": runs}
    found = {}
    for group in groups(campaign, choice.by, runs.filter(kind="mptcp")):
        ((_, named),) = group.axes.items()
        found[str(named)] = where(campaign, {**choice.where, choice.by[0]: str(named)})
    return found


def _named(value: str, path: str) -> str:
    metric = OF_RUNS[value]
    own = "MPTCP" if path == MPTCP else f"TCP over {path}"
    return f"{own}: {metric.label} ({metric.unit})" if metric.unit else f"{own}: {metric.label}"
