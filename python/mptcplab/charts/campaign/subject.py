"""A campaign as its page shows it: groups of runs, and which of them met the same conditions."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mptcplab.results.campaign import Campaign
from mptcplab.results.groups import Group, gain_of, groups, paths
from mptcplab.results.statistics import Gain

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
        return paths(self.campaign) or list(self.scenario["path"])

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
    def gains(self) -> dict[int, Gain]:
        """Give what each group with MPTCP has over the best single path beside it."""
        return {
            number: gain_of(self.campaign, self.groups[number])
            for number, beside in self.beside.items()
            if beside
        }

    @cached_property
    def against(self) -> dict[int, int]:
        """Give the group of plain TCP over that path, where every run of both finished."""
        return {
            number: one
            for number, gain in self.gains.items()
            if gain.all_finished
            for one in self.beside[number]
            if self.groups[one].path == gain.best_path
        }
