"""Queues on the way."""

from __future__ import annotations

from mptcplab.figures.over_time import over_time
from mptcplab.figures.registry import RUN, register
from mptcplab.report.charts import queueing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.figures.choice import Choice
    from mptcplab.figures.paper import Paper


@register("queues", RUN, "connection")
def draw(paper: Paper, place: Any, choice: Choice) -> str:
    """Queueing delay of links over time; simulations know it."""
    return over_time(paper, place, choice, queueing.chart)
