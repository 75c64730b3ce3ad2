"""Round-trip times."""

from __future__ import annotations

from mptcplab.figures.over_time import over_time
from mptcplab.figures.registry import RUN, register
from mptcplab.report.charts import rtt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.figures.choice import Choice
    from mptcplab.figures.paper import Paper


@register("rtt", RUN, "connection")
def draw(paper: Paper, place: Any, choice: Choice) -> str:
    """round-trip time samples of each subflow over time."""
    return over_time(paper, place, choice, rtt.chart)
