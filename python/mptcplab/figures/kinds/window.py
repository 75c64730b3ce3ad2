"""Advertised windows."""

from __future__ import annotations

from mptcplab.figures.over_time import over_time
from mptcplab.figures.registry import RUN, register
from mptcplab.report.charts import window

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.figures.choice import Choice
    from mptcplab.figures.paper import Paper


@register("window", RUN, "connection")
def draw(paper: Paper, place: Any, choice: Choice) -> str:
    """Receive window that each subflow announced over time."""
    return over_time(paper, place, choice, window.chart)
