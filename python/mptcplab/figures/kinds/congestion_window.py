"""Congestion windows."""

from __future__ import annotations

from mptcplab.figures.over_time import over_time
from mptcplab.figures.registry import RUN, register
from mptcplab.report.charts import congestion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.figures.choice import Choice
    from mptcplab.figures.paper import Paper


@register("congestion-window", RUN, "connection")
def draw(paper: Paper, place: Any, choice: Choice) -> str:
    """Congestion window and slow-start threshold of each subflow over time."""
    return over_time(paper, place, choice, congestion.chart)
