"""What part of the data a path carried."""

from __future__ import annotations

from mptcplab._core import Error
from mptcplab.figures.bars import bars
from mptcplab.figures.choice import Choice
from mptcplab.figures.groups import MPTCP, Shown
from mptcplab.figures.registry import CAMPAIGN, register
from mptcplab.results.groups import Group, paths, shares

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.figures.paper import Paper
    from mptcplab.results.campaign import Campaign


@register("share", CAMPAIGN, "by", "where", "paths")
def draw(paper: Paper, campaign: Campaign, choice: Choice) -> str:
    """Share of a path (the last, or --paths NAME) in what MPTCP delivered, with intervals."""
    if len(choice.paths) > 1:
        raise Error("share is of one path, the others have the rest")
    carried = shares(campaign)
    there = set(carried["path"])
    (path,) = choice.paths or [one for one in paths(campaign) if one in there][-1:] or (max(there),)
    if path not in there:
        raise Error(f"{campaign.name} has no path {path!r}: there are {', '.join(sorted(there))}")
    percent = {run: share * 100 for run, _, share in carried.filter(path=path).drop_nulls().rows()}

    def values(group: Group) -> list[float | None]:
        ended = group.runs.select("run", "finished").rows()
        return [percent.get(run) if finished else None for run, finished in ended]

    return bars(
        paper,
        Shown.of(campaign, Choice(choice.by, choice.where), contenders=(MPTCP,)),
        values,
        f"Share of {path} (%)",
        unknown=f"{campaign.directory}: no share of {path} is known",
    )
