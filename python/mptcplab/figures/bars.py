"""Bars with intervals."""

from __future__ import annotations

from mptcplab._core import Error
from mptcplab.figures.groups import Shown
from mptcplab.figures.paper import Paper
from mptcplab.figures.side_by_side import SideBySide
from mptcplab.results.statistics import Estimate, interval

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from mptcplab.results.groups import Group

    Values = Callable[[Group], list[float | None]]

INTERVAL = "the mean over runs, with its {level:.0%} confidence interval ({method})"
WHISKER = {"fmt": "none", "ecolor": "#000000", "elinewidth": 0.8, "capsize": 1.5, "capthick": 0.8}


def bars(paper: Paper, shown: Shown, values: Values, label: str, *, unknown: str) -> str:
    """Draw means of values, and say how they were computed."""
    where = SideBySide(shown)
    axes = paper.subplots()
    drawn: dict[str, Artist] = {}
    method = ""
    for group in shown.groups:
        found = interval(values(group))
        if found.estimate is None:
            continue
        place = where.place(group)
        bar = axes.bar(place, found.estimate, 0.9 * where.width, **where.look(group))
        drawn.setdefault(shown.label(group), bar)  # type: ignore[arg-type]
        whisker(axes, place, found)
        method = INTERVAL.format(level=found.level, method=found.method).replace("%", " %")
    if not drawn:
        raise Error(unknown)
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    where.finish(paper, axes, drawn)
    return f"{label}: {method}. {shown.caption}"


def whisker(axes: Axes, place: float, found: Estimate) -> None:
    """Draw an interval, where there is one."""
    if found.estimate is not None and found.low is not None and found.high is not None:
        ends = [[found.estimate - found.low], [found.high - found.estimate]]
        axes.errorbar(place, found.estimate, ends, **WHISKER)  # type: ignore[arg-type]
