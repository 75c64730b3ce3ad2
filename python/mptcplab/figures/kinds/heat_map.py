"""A figure of runs over two axes."""

from __future__ import annotations

import numpy as np

from mptcplab._core import Error
from mptcplab.figures.groups import MPTCP, Shown
from mptcplab.figures.registry import CAMPAIGN, register
from mptcplab.labels import text
from mptcplab.metrics import OF_RUNS, capital
from mptcplab.report.campaign.charts import axis
from mptcplab.results.groups import gain_of
from mptcplab.results.statistics import interval

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.figures.choice import Choice
    from mptcplab.figures.paper import Paper
    from mptcplab.results.campaign import Campaign
    from mptcplab.results.groups import Group

GAIN = "gain"


@register("heat-map", CAMPAIGN, "by", "where", "paths", "value")
def draw(paper: Paper, campaign: Campaign, choice: Choice) -> str:
    """Mean throughput (or another value, or gain) over two axes."""
    value = choice.metric("throughput_mbps", GAIN)
    free = [axis for axis in campaign.axes if axis not in choice.where]
    shown = Shown.of(campaign, choice, by=free[:2], contenders=(MPTCP,))
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
            place = rows.index(group.axes[down]), columns.index(group.axes[across])
            grid[place] = _mean(campaign, group, value)
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
