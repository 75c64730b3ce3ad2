"""Which groups of a campaign's runs a figure shows, and what they are called."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mptcplab._core import Error
from mptcplab.figures.paper import MOST
from mptcplab.results.groups import Group, groups, paths, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    import polars as pl

    from mptcplab.figures.choice import Choice
    from mptcplab.results.campaign import Campaign

MPTCP = "mptcp"


@dataclass(frozen=True)
class Shown:
    """Runs that were chosen, split by axes."""

    campaign: Campaign
    runs: pl.DataFrame
    by: tuple[str, ...]
    groups: list[Group]

    @classmethod
    def of(
        cls,
        campaign: Campaign,
        choice: Choice,
        *,
        by: Sequence[str] | None = None,
        contenders: Sequence[str] | None = None,
    ) -> Shown:
        """Take what is chosen, or else what the kind does: all axes, and all that ran."""
        wanted = contenders_of(campaign, choice, contenders)
        runs = where(campaign, choice.where)
        # An axis of which one value is left splits nothing.
        free = [axis for axis in campaign.axes if axis not in choice.where]
        split = tuple(choice.by or (free if by is None else by))
        found = [one for one in groups(campaign, split, runs) if (one.path or MPTCP) in wanted]
        if not any(one.runs["finished"].any() for one in found):
            raise Error(f"{campaign.directory} has no run of those that finished")
        return cls(campaign, runs, split, found)

    @cached_property
    def labels(self) -> list[str]:
        """Name each series: what ran, and its values of all axes but the first."""
        return list(dict.fromkeys(map(self.label, self.groups)))

    def label(self, group: Group) -> str:
        """Name the series of a group."""
        return " ".join(self._words(group, self.by[1:]))

    def name(self, group: Group) -> str:
        """Name a group with all its values."""
        return " ".join(self._words(group, self.by))

    @cached_property
    def caption(self) -> str:
        """Say which runs they are, and how many."""
        counts = [sum(one.runs["finished"]) for one in self.groups]
        least, most = min(counts), max(counts)
        number = f"n = {least}" if least == most else f"n = {least} to {most}"
        left_out = sum(one.runs.height for one in self.groups) - sum(counts)
        pooled = [
            axis
            for axis in self.campaign.axes
            if axis not in self.by and self.runs[axis].drop_nulls().n_unique() > 1
        ]
        return " ".join(
            [
                f"{number} runs each.",
                *([f"{left_out} that did not finish are left out."] if left_out else []),
                *(
                    [f"Runs of all values of {' and '.join(pooled)} are taken together."]
                    if pooled
                    else []
                ),
            ]
        )

    def _words(self, group: Group, axes: Sequence[str]) -> list[str]:
        return [group.name, *(str(group.axes[axis]) for axis in axes if axis in group.axes)]


def contenders_of(
    campaign: Campaign, choice: Choice, contenders: Sequence[str] | None = None
) -> Sequence[str]:
    """Give what is drawn: ``mptcp`` and paths that plain TCP runs over."""
    there = (MPTCP, *paths(campaign))
    for one in choice.paths:
        if one not in there:
            raise Error(f"{campaign.name} has no path {one!r}: there are {', '.join(there)}")
    return choice.paths or contenders or there


def few(labels: Collection[Any]) -> None:
    """Refuse what nobody can tell apart."""
    if len(labels) > MOST:
        raise Error(
            f"{len(labels)} things cannot be told apart, only {MOST}: choose fewer "
            "(by, where, paths)"
        )
