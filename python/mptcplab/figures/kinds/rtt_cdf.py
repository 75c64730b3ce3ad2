"""Distributions of round-trip times."""

from __future__ import annotations

from mptcplab.figures.distribution import of_campaign, of_run
from mptcplab.figures.registry import CAMPAIGN, RUN, register

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.figures.choice import Choice
    from mptcplab.figures.paper import Paper
    from mptcplab.results.campaign import Campaign


@register("rtt-cdf", RUN, "connection")
def draw_run(paper: Paper, place: Any, choice: Choice) -> str:
    """Distribution of round-trip times of each subflow."""
    return of_run(paper, place, choice, "rtt", above=False)


@register("rtt-cdf", CAMPAIGN, "by", "where", "paths")
def draw_campaign(paper: Paper, campaign: Campaign, choice: Choice) -> str:
    """Distribution of round-trip times over runs, with bands."""
    return of_campaign(paper, campaign, choice, "rtt", above=False)
