"""A campaign as a page tells of it: groups of runs, and which of them met the same conditions."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean

from mptcplab.results.campaign import Campaign
from mptcplab.results.groups import Group, groups
from mptcplab.results.statistics.estimate import is_known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    #: Values by pair.
    Values = dict[int, float | None]


@dataclass
class Subject:
    """The campaign, its groups in the order of their numbers, and the values of their runs."""

    campaign: Campaign
    groups: list[Group] = field(init=False)

    def __post_init__(self) -> None:
        self.groups = groups(self.campaign, list(self.campaign.axes))

    @cached_property
    def paths(self) -> list[str]:
        """Paths over which plain TCP was run, or else those that the scenario has."""
        found = dict.fromkeys(group.path for group in self.groups if group.path is not None)
        return list(found) or list(self.scenario["path"])

    @cached_property
    def scenario(self) -> dict[str, Any]:
        """The scenario of the first run in its long form: what does not vary is the same in all."""
        return tomllib.loads(self.campaign.scenario(self.campaign.plan["run"][0]))

    def values(self, number: int, figure: str) -> Values:
        """Give a figure of a group's runs by pair; unknown where a run did not finish."""
        group = self.groups[number]
        return dict(zip(group.runs["pair"].to_list(), group.values(figure), strict=True))

    @cached_property
    def beside(self) -> dict[int, list[int]]:
        """Groups of plain TCP by the number of the group with MPTCP that they are beside."""
        plain: dict[int, list[int]] = {}
        for number, group in enumerate(self.groups):
            if group.path is not None:
                for pair in group.runs["pair"].unique():
                    plain.setdefault(pair, []).append(number)
        return {
            number: sorted({one for pair in group.runs["pair"] for one in plain.get(pair, ())})
            for number, group in enumerate(self.groups)
            if group.path is None
        }

    @cached_property
    def against(self) -> dict[int, int]:
        """Give the group of plain TCP with the highest mean throughput beside each with MPTCP."""
        means = {
            number: fmean(known)
            for number, group in enumerate(self.groups)
            if group.path is not None
            and (known := list(filter(is_known, group.values("throughput_mbps"))))
        }
        return {
            number: max(there, key=means.__getitem__)
            for number, beside in self.beside.items()
            if (there := [one for one in beside if one in means])
        }

    def label(self, number: int) -> str:
        """Name a group: what ran, and what it has of the axes."""
        group = self.groups[number]
        return ", ".join([group.name, *(str(value) for value in group.axes.values())])
