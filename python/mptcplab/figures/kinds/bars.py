"""Bars of means with intervals: of a metric of runs, and of what a path carried."""

from __future__ import annotations

from mptcplab._core import Error
from mptcplab.figures.choice import Choice
from mptcplab.figures.groups import MPTCP, Shown
from mptcplab.figures.paper import Paper
from mptcplab.figures.registry import CAMPAIGN, register
from mptcplab.figures.side_by_side import SideBySide
from mptcplab.metrics import OF_RUNS
from mptcplab.results.groups import Group, paths, shares
from mptcplab.results.statistics import Estimate, interval

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from mptcplab.results.campaign import Campaign

    Values = Callable[[Group], list[float | None]]

INTERVAL = "the mean over runs, with its {level:.0%} confidence interval ({method})"
WHISKER = {"fmt": "none", "ecolor": "#000000", "elinewidth": 0.8, "capsize": 1.5, "capthick": 0.8}


@register("bars", CAMPAIGN, "by", "where", "paths", "value")
def draw(paper: Paper, campaign: Campaign, choice: Choice) -> str:
    """Coefficients of variation (or another value) as bars of means with intervals."""
    value = choice.metric("coefficient_of_variation")
    return _bars(
        paper,
        Shown.of(campaign, choice),
        lambda group: group.values(value),
        OF_RUNS[value].axis,
        unknown=f"{campaign.directory}: no run that finished has {value}",
    )


@register("share", CAMPAIGN, "by", "where", "paths")
def draw_share(paper: Paper, campaign: Campaign, choice: Choice) -> str:
    """Share of a path (the last, or --paths NAME) in what MPTCP delivered, with intervals."""
    if len(choice.paths) > 1:
        raise Error("share is of one path, the others have the rest")
    carried = shares(campaign)
    there = set(carried["path"])
    (path,) = choice.paths or [one for one in paths(campaign) if one in there][-1:] or (max(there),)
    if path not in there:
        raise Error(f"{campaign.name} has no path {path!r}: there are {', '.join(sorted(there))}")
    percent = {run: share * 100 for run, _, share in carried.filter(path=path).drop_nulls().rows()}

    def values(group: Group) -> list[float | None]:
        ended = group.runs.select("run", "finished").rows()
        return [percent.get(run) if finished else None for run, finished in ended]

    return _bars(
        paper,
        Shown.of(campaign, Choice(choice.by, choice.where), contenders=(MPTCP,)),
        values,
        f"Share of {path} (%)",
        unknown=f"{campaign.directory}: no share of {path} is known",
    )


def _bars(paper: Paper, shown: Shown, values: Values, label: str, *, unknown: str) -> str:
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
