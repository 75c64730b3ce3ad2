"""Complementary distributions of out-of-order delays."""

from __future__ import annotations

from mptcplab.figures.distribution import of_campaign, of_run
from mptcplab.figures.registry import CAMPAIGN, RUN, register

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.figures.choice import Choice
    from mptcplab.figures.paper import Paper
    from mptcplab.results.campaign import Campaign


@register("out-of-order-ccdf", RUN, "connection")
def draw_run(paper: Paper, place: Any, choice: Choice) -> str:
    """Complementary distribution of out-of-order delays of the connection."""
    return of_run(paper, place, choice, "out_of_order_delay", above=True)


@register("out-of-order-ccdf", CAMPAIGN, "by", "where", "paths")
def draw_campaign(paper: Paper, campaign: Campaign, choice: Choice) -> str:
    """Complementary distribution of out-of-order delays over runs, with bands."""
    return of_campaign(paper, campaign, choice, "out_of_order_delay", above=True)
