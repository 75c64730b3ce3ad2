"""Boxes, heat maps and scatter plots of a metric of runs."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.artist import Artist

from mptcplab._core import Error
from mptcplab.charts.campaign.charts import axis
from mptcplab.charts.paper.choice import Choice
from mptcplab.charts.paper.groups import MPTCP, Shown, SideBySide, candidates_of, few
from mptcplab.charts.paper.paper import MARKERS, NEUTRAL, Paper, logarithmic, of_mptcp
from mptcplab.labels import text
from mptcplab.metrics import OF_RUNS, capital
from mptcplab.results.campaign import Campaign
from mptcplab.results.groups import Group, gain_of, groups, paths, versus, where
from mptcplab.results.statistics import box, interval
from mptcplab.results.statistics.intervals import known

# More would be a smear.
POINTS = 30
# A larger range is drawn in the logarithm, where the metric allows it.
WIDE = 8


def boxes(paper: Paper, campaign: Campaign, choice: Choice) -> str:
    """Transfer times (or another value) of runs as boxes, with plain TCP beside MPTCP."""
    value = choice.metric("elapsed_s")
    metric = OF_RUNS[value]
    shown = Shown.of(campaign, choice)
    where = SideBySide(shown)
    axes = paper.subplots()
    drawn: dict[str, Artist] = {}
    smallest, largest = float("inf"), 0.0
    for group in shown.groups:
        values, _ = known(group.values(value))
        found = box(values)
        if found is None:
            continue
        position, look = where.position(group), where.look(group)
        stats = {
            "med": found.median,
            "q1": found.lower_quartile,
            "q3": found.upper_quartile,
            "whislo": found.low,
            "whishi": found.high,
        }
        line = {"color": look["edgecolor"], "linewidth": 0.7}
        artists = axes.bxp(
            [stats],
            [position],
            widths=0.75 * where.width,
            patch_artist=True,
            showfliers=False,
            manage_ticks=False,
            boxprops=look,
            whiskerprops=line,
            capprops=line,
            medianprops={"color": "#000000", "linewidth": 1.0},
        )
        drawn.setdefault(shown.label(group), artists["boxes"][0])
        points = values if len(values) <= POINTS else found.outliers
        axes.plot([position] * len(points), points, ".", color="#000000", markersize=1.2, alpha=0.6)
        smallest, largest = min(smallest, *values), max(largest, *values)
    if not drawn:
        raise Error(f"{campaign.directory}: no run that finished has {value}")
    if metric.logarithmic and smallest > 0 and largest > WIDE * smallest:
        axes.set_yscale("log")
        logarithmic(axes.yaxis)
    axes.set_ylabel(metric.axis)
    where.finish(paper, axes, drawn)
    return (
        f"{metric.axis}: median and quartiles; whiskers reach to the outermost values "
        f"within 1.5 times the box's height of it (Tukey); points are runs. {shown.caption}"
    )


GAIN = "gain"


def heat_map(paper: Paper, campaign: Campaign, choice: Choice) -> str:
    """Mean throughput (or another value, or gain) over two axes."""
    value = choice.metric("throughput_mbps", GAIN)
    free = [axis for axis in campaign.axes if axis not in choice.where]
    shown = Shown.of(campaign, choice, by=free[:2], candidates=(MPTCP,))
    if len(shown.by) != 2 or len(choice.paths) > 1:
        raise Error("heat-map takes two axes, and at most one path")
    across, down = shown.by
    columns, rows = (
        [
            one
            for one in campaign.axes[axis]
            if any(group.axes.get(axis) == one for group in shown.groups)
        ]
        for axis in shown.by
    )
    if not columns or not rows:
        raise Error(f"{', '.join(choice.paths)} has no values of {across} and {down}")
    grid = np.full((len(rows), len(columns)), np.nan)
    for group in shown.groups:
        if across in group.axes and down in group.axes:
            cell = rows.index(group.axes[down]), columns.index(group.axes[across])
            grid[cell] = _mean(campaign, group, value)
    axes = paper.subplots()
    image = axes.imshow(grid, cmap="cividis", aspect="auto")
    for (row, column), number in np.ndenumerate(grid):
        dark = number < (np.nanmin(grid) + np.nanmax(grid)) / 2
        shade = "#ffffff" if dark else "#000000"
        known = text.UNKNOWN if np.isnan(number) else text.figure(float(number))
        axes.text(column, row, known, ha="center", va="center", color=shade, fontsize=6)
    axes.set_xticks(range(len(columns)), map(str, columns))
    axes.set_yticks(range(len(rows)), map(str, rows))
    axes.set(xlabel=capital(across), ylabel=capital(down))
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    what = axis("gain") if value == GAIN else OF_RUNS[value].axis
    bar = paper.colorbar(image, label=what)
    bar.outline.set_visible(False)
    paper.part_labels(axes)
    how = "means of pairs under the same conditions" if value == GAIN else "means over runs"
    return f"{what}: {how}. {shown.caption}"


def _mean(campaign: Campaign, group: Group, value: str) -> float:
    if value == GAIN:
        found = gain_of(campaign, group).paired.relative.estimate
        return float("nan") if found is None else 100 * found
    known = interval(group.values(value)).estimate
    return float("nan") if known is None else known


def scatter(paper: Paper, campaign: Campaign, choice: Choice) -> str:
    """Throughput (or another value) over two paths against each other, run by run."""
    value = choice.metric("throughput_mbps")
    candidates_of(campaign, choice)
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
            color=of_mptcp(number, len(paths(campaign))),
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
    for position, label, aligned in (
        ((0.03, 0.97), f"{less} above", ("left", "top")),
        ((0.97, 0.03), f"{more} below", ("right", "bottom")),
    ):
        across, up = aligned
        axes.text(*position, label, ha=across, va=up, transform=axes.transAxes, color=NEUTRAL)
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
