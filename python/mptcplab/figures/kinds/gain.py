"""What MPTCP gains over plain TCP."""

from __future__ import annotations

from dataclasses import replace

from mptcplab._core import Error
from mptcplab.figures.groups import MPTCP, Shown
from mptcplab.figures.kinds.bars import whisker
from mptcplab.figures.paper import MARKERS
from mptcplab.figures.registry import CAMPAIGN, register
from mptcplab.figures.side_by_side import SideBySide
from mptcplab.report.campaign.charts import axis
from mptcplab.results.groups import gain_of
from mptcplab.results.labels import finished
from mptcplab.results.statistics import Estimate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.artist import Artist

    from mptcplab.figures.choice import Choice
    from mptcplab.figures.paper import Paper
    from mptcplab.results.campaign import Campaign


@register("gain", CAMPAIGN, "by", "where")
def draw(paper: Paper, campaign: Campaign, choice: Choice) -> str:
    """Throughput that MPTCP gains over the best single path, with intervals."""
    shown = Shown.of(campaign, choice, contenders=(MPTCP,))
    where = SideBySide(shown)
    axes = paper.subplots()
    axes.axhline(0, color="#000000", linewidth=0.6)
    drawn: dict[str, Artist] = {}
    method = ""
    without = []
    for group in shown.groups:
        gained = gain_of(campaign, group)
        found = gained.paired.relative
        if not gained.all_finished:
            without.append(f"{shown.name(group)}: {finished(gained)}")
        if found.estimate is None:
            continue
        place, number = where.place(group), where.series(group)
        whisker(axes, place, in_percent(found))
        colour = where.look(group)["edgecolor"]
        (point,) = axes.plot(
            place, 100 * found.estimate, MARKERS[number], color=colour, markersize=3.5, linestyle=""
        )
        drawn.setdefault(shown.label(group), point)
        method = f"{found.level:.0%} confidence intervals ({found.method}".replace("%", " %")
    if not drawn:
        reason = "; ".join(without) or "there is no plain TCP that MPTCP can be compared with"
        raise Error(f"{campaign.directory}: {reason}")
    axes.set_ylabel(axis("gain"))
    where.finish(paper, axes, drawn)
    return (
        "Mean throughput of MPTCP / that of plain TCP over the path with the highest mean, - 1, by "
        f"runs under the same conditions; {method} of pairs). {shown.caption}"
        + (f" No gain where not every run finished ({'; '.join(without)})." if without else "")
    )


def in_percent(found: Estimate) -> Estimate:
    """Give a part of 1 as a percentage."""

    def times(value: float | None) -> float | None:
        return None if value is None else 100 * value

    return replace(
        found, estimate=times(found.estimate), low=times(found.low), high=times(found.high)
    )
