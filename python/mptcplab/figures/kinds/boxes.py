"""Boxes of a figure of runs."""

from __future__ import annotations

from mptcplab._core import Error
from mptcplab.figures.groups import Shown
from mptcplab.figures.paper import logarithmic
from mptcplab.figures.registry import CAMPAIGN, register
from mptcplab.figures.side_by_side import SideBySide
from mptcplab.metrics import OF_RUNS
from mptcplab.results.statistics import box
from mptcplab.results.statistics.intervals import known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.artist import Artist

    from mptcplab.figures.choice import Choice
    from mptcplab.figures.paper import Paper
    from mptcplab.results.campaign import Campaign

# More would be a smear.
POINTS = 30
# A larger range is drawn in the logarithm, where the metric allows it.
WIDE = 8


@register("boxes", CAMPAIGN, "by", "where", "paths", "value")
def draw(paper: Paper, campaign: Campaign, choice: Choice) -> str:
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
        place, look = where.place(group), where.look(group)
        stats = {
            "med": found.median,
            "q1": found.lower_quartile,
            "q3": found.upper_quartile,
            "whislo": found.low,
            "whishi": found.high,
        }
        line = {"color": look["edgecolor"], "linewidth": 0.7}
        made = axes.bxp(
            [stats],
            [place],
            widths=0.75 * where.width,
            patch_artist=True,
            showfliers=False,
            manage_ticks=False,
            boxprops=look,
            whiskerprops=line,
            capprops=line,
            medianprops={"color": "#000000", "linewidth": 1.0},
        )
        drawn.setdefault(shown.label(group), made["boxes"][0])
        points = values if len(values) <= POINTS else found.outliers
        axes.plot([place] * len(points), points, ".", color="#000000", markersize=1.2, alpha=0.6)
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
