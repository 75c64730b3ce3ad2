"""Out-of-order delays over time."""

from __future__ import annotations

from mptcplab.figures.over_time import over_time
from mptcplab.figures.registry import RUN, register
from mptcplab.report.charts import reordering

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.figures.choice import Choice
    from mptcplab.figures.paper import Paper


@register("out-of-order-delay", RUN, "connection")
def draw(paper: Paper, place: Any, choice: Choice) -> str:
    """out-of-order delay of each segment that arrived over time."""
    return over_time(paper, place, choice, reordering.chart)
