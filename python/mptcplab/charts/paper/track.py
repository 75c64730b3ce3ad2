"""Figures of where the client of a run was."""

from __future__ import annotations

from typing import Any

from mptcplab._core import Error
from mptcplab.charts.paper.choice import Choice
from mptcplab.charts.paper.paper import COLOURS, MARKERS, NEUTRAL, Paper
from mptcplab.charts.run.subject import Subject
from mptcplab.charts.run.track import TRACKS

# From good to bad: dark on white, so that what is good is seen first, in print without colour too.
GRADES = ("#08306b", "#2171b5", "#6baed6", "#fdae6b", "#d94801")


def track(name: str, paper: Paper, source: Any, choice: Choice) -> str:
    """Draw it, and give its caption."""
    subject = Subject.of(source, choice.connection)
    found = TRACKS[name](subject)
    if found is None:
        raise Error(f"there is nothing to draw: the tables have nothing for {name}")
    axes = paper.subplots()
    axes.plot(found.line.x, found.line.y, color=NEUTRAL, linewidth=0.5, zorder=1)
    colours = GRADES if found.graded else COLOURS
    for one in found.series:
        number = one.subflow if found.graded else one.look
        axes.plot(
            one.x,
            one.y,
            "x" if number is None else MARKERS[number % len(MARKERS)],
            color=NEUTRAL if number is None else colours[number % len(colours)],
            markersize=3,
            markeredgewidth=0.6 if number is None else 0,
            label=one.name,
        )
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("East (m)")
    axes.set_ylabel("North (m)")
    paper.legend_above(*axes.get_legend_handles_labels())
    return f"{found.title}. {found.note}"
