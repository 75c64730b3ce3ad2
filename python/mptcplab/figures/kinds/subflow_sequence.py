"""The subflows' sequence graphs."""

from __future__ import annotations

from mptcplab.figures.over_time import over_time
from mptcplab.figures.registry import RUN, register
from mptcplab.report.charts import sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.figures.choice import Choice
    from mptcplab.figures.paper import Paper


@register("subflow-sequence", RUN, "connection")
def draw(paper: Paper, place: Any, choice: Choice) -> str:
    """Place of each packet in its subflow's stream over time, with what was sent again."""
    return over_time(paper, place, choice, sequence.of_subflows)
