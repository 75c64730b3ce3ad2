"""Distributions of what has a sample per packet, from the bins of the tables."""

from __future__ import annotations

from typing import Any

import polars as pl

from mptcplab._core import Error
from mptcplab.charts.campaign.charts import axis
from mptcplab.charts.paper.choice import Choice
from mptcplab.charts.paper.groups import MPTCP, Shown, few
from mptcplab.charts.paper.paper import BLACK, DASHES, Paper, logarithmic, of_mptcp, of_path
from mptcplab.charts.run.subject import Subject
from mptcplab.results.campaign import Campaign
from mptcplab.results.groups import distributions, paths
from mptcplab.results.statistics import Ccdf, ccdf_of_bins

# Values that much shorter than the longest are left of the figure.
REACH = 10**4.5
SHORT = {"rtt": "RTT", "out_of_order_delay": "delay"}


def of_run(quantity: str, above: bool, paper: Paper, source: Any, choice: Choice) -> str:
    """Draw the distributions of a run: over all subflows, and of each."""
    subject = Subject.of(source, choice.connection)
    bins = subject.table("distributions").filter(quantity=quantity)
    names = [(None, "all subflows"), *subject.names.items()]
    curves, colours = {}, []
    for number, name in names:
        own = bins.filter(pl.col("subflow").eq_missing(pl.lit(number, pl.UInt32)))
        if own.height and not (
            number is None and len(subject.names) == 1 and bins.height > own.height
        ):
            curves[name] = ccdf_of_bins([own.select("from_ms", "to_ms", "count").rows()])
            colours.append(BLACK if number is None else of_path(subject.looks[number]))
    samples = max((curve.samples for curve in curves.values()), default=0)
    return f"{_drawn(paper, curves, colours, quantity, above)} {samples} samples."


def of_campaign(
    quantity: str, above: bool, paper: Paper, campaign: Campaign, choice: Choice
) -> str:
    """Draw the distributions of groups of runs, with bands: by the first axis unless chosen."""
    free = [axis for axis in campaign.axes if axis not in choice.where]
    shown = Shown.of(campaign, choice, by=free[:1], candidates=(MPTCP,))
    bins = distributions(campaign, quantity)
    curves = {
        shown.name(group): ccdf_of_bins(
            bins.get(run, []) for run in group.runs.filter("finished")["run"]
        )
        for group in shown.groups
    }
    known = {name: curve for name, curve in curves.items() if curve.samples}
    single = paths(campaign)
    mptcp, colours = 0, []
    for group in shown.groups:
        if shown.name(group) in known:
            own = group.path is None
            of = of_mptcp(mptcp, len(single)) if own else of_path(single.index(str(group.path)))
            colours.append(of)
            mptcp += own
    caption = _drawn(paper, known, colours, quantity, above)
    some = next(iter(known.values()))
    band = "" if some.reason else f" Bands: {some.level:.0%} ({some.method}).".replace("%", " %")
    return f"{caption} Samples of all runs are pooled.{band} {shown.caption}"


def _drawn(
    paper: Paper, curves: dict[str, Ccdf], colours: list[str], quantity: str, above: bool
) -> str:
    name = SHORT[quantity]
    few(curves)
    if not curves:
        raise Error(f"there is nothing to draw: the table distributions has no {quantity}")
    axes = paper.subplots()

    def shown(probability: tuple[float, ...]) -> list[float]:
        return [one if above else 1 - one for one in probability]

    for number, (label, curve) in enumerate(curves.items()):
        look = {"color": colours[number]}
        axes.plot(
            curve.value,
            shown(curve.probability),
            linestyle=DASHES[number],
            drawstyle="steps-pre",
            label=label,
            **look,  # type: ignore[arg-type]
        )
        if curve.low:
            ends = shown(curve.low), shown(curve.high)
            axes.fill_between(curve.value, *ends, step="pre", alpha=0.2, linewidth=0, **look)  # type: ignore[arg-type]
    largest = max(curve.value[-1] for curve in curves.values())
    smallest = min(value for curve in curves.values() for value in curve.value if value)
    axes.set_xlim(max(smallest, largest / REACH), largest * 1.1)
    axes.set_xscale("log")
    logarithmic(axes.xaxis)
    if above:
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, 1)
    axes.set_xlabel(axis(quantity))
    axes.set_ylabel(f"P({name} {'≥' if above else '<'} x)")
    paper.legend_above(*axes.get_legend_handles_labels())
    part = f"the part of samples {'at or above' if above else 'below'} each value"
    return f"{axis(quantity)}: {part}; shorter ones lie left of the figure."
