"""Bars of a figure of runs."""

from __future__ import annotations

from mptcplab.figures.bars import bars
from mptcplab.figures.groups import Shown
from mptcplab.figures.registry import CAMPAIGN, register
from mptcplab.figures.values import chosen
from mptcplab.metrics import OF_RUNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.figures.choice import Choice
    from mptcplab.figures.paper import Paper
    from mptcplab.results.campaign import Campaign


@register("bars", CAMPAIGN, "by", "where", "paths", "value")
def draw(paper: Paper, campaign: Campaign, choice: Choice) -> str:
    """Coefficients of variation (or another value) as bars of means with intervals."""
    value = chosen(choice, "coefficient_of_variation")
    return bars(
        paper,
        Shown.of(campaign, choice),
        lambda group: group.values(value),
        OF_RUNS[value].axis,
        unknown=f"{campaign.directory}: no run that finished has {value}",
    )
