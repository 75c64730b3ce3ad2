"""Charts of a run over time: the page of a run describes them, and each is a kind here."""

from __future__ import annotations

from functools import partial

from matplotlib.lines import Line2D
from matplotlib.transforms import blended_transform_factory

from mptcplab._core import Error
from mptcplab.figures.paper import COLOURS, DASHES, MARKERS, NEUTRAL, Paper
from mptcplab.figures.registry import RUN, register
from mptcplab.report.charts import CHARTS
from mptcplab.report.moments import moments
from mptcplab.report.shape import Chart, Lane, Moment, Series
from mptcplab.report.subject import Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from matplotlib.axes import Axes

    from mptcplab.figures.choice import Choice

LANE_INCHES = 0.13
SENT_AGAIN = {"retransmission": "x", "reinjection": "+", "timeout": "v"}
POINT, MARK = 1.3, 3.0
# Lanes alone are no figure.
PAGE_ONLY = {"events"}


def draw(name: str, paper: Paper, place: Any, choice: Choice) -> str:
    """Draw a chart of a run, and give its caption."""
    subject = Subject.of(place, choice.connection)
    found = CHARTS[name](subject)
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
        marker = SENT_AGAIN.get(series.role, MARKERS[(series.subflow or 0) % len(MARKERS)])
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
    if series.role == "total" or series.subflow is None:
        return "#000000"
    return COLOURS[series.subflow % len(COLOURS)]


def _dash(series: Series) -> Any:
    return "-" if series.subflow is None else DASHES[series.subflow % len(DASHES)]


def _draw_lanes(axes: Axes, lanes: list[Lane]) -> None:
    for place, lane in enumerate(lanes):
        for series in lane.series:
            height = [place] * len(series.x)
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
    # Until the layout is made, nothing has its place.
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


for _name, _chart in CHARTS.items():
    if _name not in PAGE_ONLY:
        register(_name, RUN, "connection", about=_chart.__doc__)(partial(draw, _name))
