"""Figures of a run: its charts over time, and the throughput of two paths against each other."""

from __future__ import annotations

from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.transforms import blended_transform_factory

from mptcplab._core import Error
from mptcplab.charts.paper.choice import Choice
from mptcplab.charts.paper.paper import BLACK, COLOURS, DASHES, MARKERS, NEUTRAL, Paper, of_path
from mptcplab.charts.run import charts
from mptcplab.charts.run.events import moments
from mptcplab.charts.run.subject import Subject
from mptcplab.charts.shape import Chart, Lane, Moment, Series

LANE_INCHES = 0.13
SENT_AGAIN = {"retransmission": "x", "reinjection": "+", "timeout": "v"}
POINT, MARK = 1.3, 3.0


def chart(name: str, paper: Paper, source: Any, choice: Choice) -> str:
    """Draw a chart of a run, and give its caption."""
    subject = Subject.of(source, choice.connection)
    found = charts.one(subject, name)
    if found is None:
        raise Error(f"there is nothing to draw: the tables have nothing for {name}")
    axes, lanes = _axes(paper, found)
    for one in found.series:
        _draw(axes, one)
    for level in found.levels:
        axes.axhline(level.y, color=NEUTRAL, linestyle=":", linewidth=0.9, label=level.name)
    if lanes is not None:
        _draw_lanes(lanes, found.lanes)
    bottom = axes if lanes is None else lanes
    bottom.set_xlabel("Time (s)")
    bottom.set_xlim(subject.start_s, subject.end_s or None)
    if found.value is not None:
        axes.set_ylabel(f"{found.title} ({found.value})")
    if found.from_zero:
        axes.set_ylim(bottom=0)
    handles, labels = axes.get_legend_handles_labels()
    paper.legend_above([_seen(handle) for handle in handles], labels)
    _shade(paper, axes, moments(subject))
    return " ".join(
        filter(None, (f"{found.title}. {found.note}", found.thinned and f"{found.thinned}."))
    )


def _axes(paper: Paper, chart: Chart) -> tuple[Axes, Axes | None]:
    if not chart.lanes:
        return paper.subplots(), None
    lanes = len(chart.lanes) * LANE_INCHES
    rest = max(paper.get_figheight() - lanes - 0.6, lanes)
    upper, lower = paper.subplots(2, sharex=True, height_ratios=[rest, lanes])
    return upper, lower


def _draw(axes: Axes, series: Series) -> None:
    colour = _colour(series)
    if series.kind == "points":
        marker = SENT_AGAIN.get(series.role, MARKERS[(series.look or 0) % len(MARKERS)])
        again = series.role in SENT_AGAIN
        axes.plot(
            series.x,
            series.y,
            marker,
            color=colour,
            markersize=MARK if again else POINT,
            markeredgewidth=0.6 if again else 0,
            label=series.name,
        )
        return
    axes.plot(
        series.x,
        series.y,
        color=colour,
        linestyle=":" if series.role == "limit" else _dash(series),
        linewidth=0.7 if series.role == "limit" else None,
        drawstyle="steps-post" if series.kind == "step" else None,
        label=series.name,
    )


def _colour(series: Series) -> str:
    return BLACK if series.look is None else of_path(series.look)


def _dash(series: Series) -> Any:
    return "-" if series.look is None else DASHES[series.look % len(DASHES)]


def _draw_lanes(axes: Axes, lanes: list[Lane]) -> None:
    for row, lane in enumerate(lanes):
        for series in lane.series:
            height = [row] * len(series.x)
            axes.plot(
                series.x, height, "|", color=_colour(series), markersize=4, markeredgewidth=0.6
            )
    axes.set_yticks(range(len(lanes)), [lane.name for lane in lanes])
    axes.set_ylim(len(lanes) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)


def _shade(paper: Paper, axes: Axes, found: list[Moment]) -> None:
    """Shade what the timeline did, and say what above, in rows where one would cover another."""
    # Until the layout is made, nothing has its position.
    paper.draw_without_rendering()
    above = blended_transform_factory(axes.transData, axes.transAxes)
    rows: list[float] = []
    for moment in found:
        until = moment.at_s if moment.to_s is None else moment.to_s
        axes.axvspan(moment.at_s, until, color="#000000", alpha=0.1, linewidth=0.6)
        row = next((number for number, end in enumerate(rows) if end <= moment.at_s), len(rows))
        label = axes.annotate(
            moment.text,
            (moment.at_s, 1),
            (0, 1 + 7.5 * row),
            xycoords=above,
            textcoords="offset points",
            fontsize=6,
            color=NEUTRAL,
            annotation_clip=False,
        )
        end = axes.transData.inverted().transform((paper.extent(label).x1, 0))[0]
        rows[row : row + 1] = [end]


def _seen(handle: Any) -> Any:
    """Points are as large in the legend as it takes to see them."""
    if not isinstance(handle, Line2D) or handle.get_linestyle() != "None":
        return handle
    shown = Line2D([], [], linestyle="None", marker=handle.get_marker(), color=handle.get_color())
    shown.set_markersize(3.5)
    return shown


def path_scatter(paper: Paper, source: Any, choice: Choice) -> str:
    """Throughput over two paths against each other, bin by bin."""
    subject = Subject.of(source, choice.connection)
    paths = subject.table("subflows").select("subflow", "path").drop_nulls()
    pair = paths["path"].unique(maintain_order=True).to_list()
    if len(pair) != 2:
        raise Error(f"path-scatter is of two paths, and there {_are(pair)}")
    bins: pl.DataFrame = (
        subject.table("throughput")
        .join(paths, on="subflow")
        .pivot(on="path", index="at_s", values="throughput_mbps", aggregate_function="sum")
        .fill_null(0)
    )
    one, other = (
        bins[path].to_list() if path in bins.columns else [0.0] * bins.height for path in pair
    )
    more = sum(a > b for a, b in zip(one, other, strict=True))
    less = sum(a < b for a, b in zip(one, other, strict=True))
    axes = paper.subplots()
    axes.plot(one, other, "o", color=COLOURS[0], markersize=2, markeredgewidth=0, alpha=0.6)
    limit = 1.05 * max(*one, *other)
    axes.plot([0, limit], [0, limit], "--", color=NEUTRAL, linewidth=0.8)
    axes.set(xlim=(0, limit), ylim=(0, limit), aspect="equal")
    axes.set_xlabel(f"{pair[0]}: throughput (Mbit/s)")
    axes.set_ylabel(f"{pair[1]}: throughput (Mbit/s)")
    return (
        f"Throughput of a connection over {pair[0]} and over {pair[1]}, a point for each bin of "
        f"the table throughput; {pair[0]} has more in {more} of {bins.height}, {pair[1]} in {less}."
    )


def _are(paths: list[str]) -> str:
    return f"are {', '.join(paths)}" if paths else "is none"
