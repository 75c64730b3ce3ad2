"""Means over the runs of groups with their intervals, as bars, and gains as points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from mptcplab._core import Error
from mptcplab.charts.campaign.charts import axis
from mptcplab.charts.paper.choice import Choice
from mptcplab.charts.paper.groups import MPTCP, Shown, SideBySide
from mptcplab.charts.paper.paper import MARKERS, Paper
from mptcplab.metrics import OF_RUNS
from mptcplab.results.campaign import Campaign
from mptcplab.results.groups import Group, gain_of, paths, shares
from mptcplab.results.labels import finished
from mptcplab.results.statistics import Estimate, interval

Values = Callable[[Group], list[float | None]]

INTERVAL = "the mean over runs, with its {level:.0%} confidence interval ({method})"
WHISKER = {"fmt": "none", "ecolor": "#000000", "elinewidth": 0.8, "capsize": 1.5, "capthick": 0.8}


def bars(paper: Paper, campaign: Campaign, choice: Choice) -> str:
    """Coefficients of variation (or another value) as bars of means with intervals."""
    value = choice.metric("coefficient_of_variation")
    return _bars(
        paper,
        Shown.of(campaign, choice),
        lambda group: group.values(value),
        OF_RUNS[value].axis,
        unknown=f"{campaign.directory}: no run that finished has {value}",
    )


def share(paper: Paper, campaign: Campaign, choice: Choice) -> str:
    """Share of a path (the last, or --paths NAME) in what MPTCP delivered, with intervals."""
    if len(choice.paths) > 1:
        raise Error("share is of one path, the others have the rest")
    carried = shares(campaign)
    known = set(carried["path"])
    (path,) = choice.paths or [one for one in paths(campaign) if one in known][-1:] or (max(known),)
    if path not in known:
        raise Error(f"{campaign.name} has no path {path!r}: there are {', '.join(sorted(known))}")
    percent = {run: share * 100 for run, _, share in carried.filter(path=path).drop_nulls().rows()}

    def values(group: Group) -> list[float | None]:
        ended = group.runs.select("run", "finished").rows()
        return [percent.get(run) if finished else None for run, finished in ended]

    return _bars(
        paper,
        Shown.of(campaign, Choice(choice.by, choice.where), candidates=(MPTCP,)),
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
        position = where.position(group)
        bar = axes.bar(position, found.estimate, 0.9 * where.width, **where.look(group))
        drawn.setdefault(shown.label(group), bar)  # type: ignore[arg-type]
        whisker(axes, position, found)
        method = INTERVAL.format(level=found.level, method=found.method).replace("%", " %")
    if not drawn:
        raise Error(unknown)
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    where.finish(paper, axes, drawn)
    return f"{label}: {method}. {shown.caption}"


def whisker(axes: Axes, position: float, found: Estimate) -> None:
    """Draw an interval, where there is one."""
    if found.estimate is not None and found.low is not None and found.high is not None:
        ends = [[found.estimate - found.low], [found.high - found.estimate]]
        axes.errorbar(position, found.estimate, ends, **WHISKER)  # type: ignore[arg-type]


def gain(paper: Paper, campaign: Campaign, choice: Choice) -> str:
    """Throughput that MPTCP gains over the best single path, with intervals."""
    shown = Shown.of(campaign, choice, candidates=(MPTCP,))
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
        position, number = where.position(group), where.series(group)
        whisker(axes, position, in_percent(found))
        colour = shown.colour(group)
        (point,) = axes.plot(
            position,
            100 * found.estimate,
            MARKERS[number],
            color=colour,
            markersize=3.5,
            linestyle="",
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
