"""Throughput over time."""

from __future__ import annotations

from mptcplab.figures.over_time import over_time
from mptcplab.figures.registry import RUN, register
from mptcplab.report.charts import throughput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.figures.choice import Choice
    from mptcplab.figures.paper import Paper


@register("throughput", RUN, "connection")
def draw(paper: Paper, place: Any, choice: Choice) -> str:
    """Throughput of the connection and of each subflow over time, with packets sent again."""
    return over_time(paper, place, choice, throughput.chart)
