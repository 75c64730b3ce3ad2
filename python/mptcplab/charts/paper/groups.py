"""Which groups of a campaign's runs a figure shows, and where each stands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from mptcplab._core import Error
from mptcplab.charts.paper.choice import Choice
from mptcplab.charts.paper.paper import HATCHES, MOST, Paper, of_mptcp, of_path
from mptcplab.metrics import capital
from mptcplab.results.campaign import Campaign
from mptcplab.results.groups import Group, groups, paths, where

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
        candidates: Sequence[str] | None = None,
    ) -> Shown:
        """Take what is chosen, or else what the kind does: all axes, and all that ran."""
        candidates = candidates_of(campaign, choice, candidates)
        runs = where(campaign, choice.where)
        # An axis of which one value is left splits nothing.
        free = [axis for axis in campaign.axes if axis not in choice.where]
        split = tuple(choice.by or (free if by is None else by))
        found = [one for one in groups(campaign, split, runs) if (one.path or MPTCP) in candidates]
        if not any(one.runs["finished"].any() for one in found):
            raise Error(f"{campaign.directory} has no run of those that finished")
        return cls(campaign, runs, split, found)

    @cached_property
    def labels(self) -> list[str]:
        """Name each series: what ran, and its values of all axes but the first."""
        return list(dict.fromkeys(map(self.label, self.groups)))

    def label(self, group: Group) -> str:
        """Name the series of a group."""
        return " ".join(self._parts(group, self.by[1:]))

    def colour(self, group: Group) -> str:
        """Give the colour of a group's series: plain TCP has its path's, MPTCP one of no path."""
        single = paths(self.campaign)
        if group.path is not None:
            return of_path(single.index(group.path))
        own = list(dict.fromkeys(self.label(one) for one in self.groups if one.path is None))
        return of_mptcp(own.index(self.label(group)), len(single))

    def name(self, group: Group) -> str:
        """Name a group with all its values."""
        return " ".join(self._parts(group, self.by))

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

    def _parts(self, group: Group, axes: Sequence[str]) -> list[str]:
        return [group.name, *(str(group.axes[axis]) for axis in axes if axis in group.axes)]


def candidates_of(
    campaign: Campaign, choice: Choice, candidates: Sequence[str] | None = None
) -> Sequence[str]:
    """Give what is drawn: ``mptcp`` and paths that plain TCP runs over."""
    known = (MPTCP, *paths(campaign))
    for one in choice.paths:
        if one not in known:
            raise Error(f"{campaign.name} has no path {one!r}: there are {', '.join(known)}")
    return choice.paths or candidates or known


class TooManyError(Error):
    """More series than can be told apart."""


def few(labels: Collection[Any]) -> None:
    """Refuse more series than can be told apart."""
    if len(labels) > MOST:
        raise TooManyError(f"{len(labels)} series, but a figure shows at most {MOST}")


ROOM = 0.8
FILL = 0.45


class SideBySide:
    """Where each group stands, and how it looks."""

    def __init__(self, shown: Shown) -> None:
        few(shown.labels)
        self.shown = shown
        #: The first axis; empty where all runs are taken together.
        self.first = shown.by[0] if shown.by else ""
        values = shown.campaign.axes.get(self.first, [])
        used = {group.axes.get(self.first) for group in shown.groups}
        #: Values of the first axis; None for what is the same for all of them.
        self.categories: list[Any] = [one for one in values if one in used]
        if None in used:
            self.categories.append(None)
        self.width = ROOM / len(shown.labels)

    def position(self, group: Group) -> float:
        """Give the position of a group along the figure."""
        series = self.series(group)
        middle = (len(self.shown.labels) - 1) / 2
        category = self.categories.index(group.axes.get(self.first))
        return category + (series - middle) * self.width

    def series(self, group: Group) -> int:
        """Number the series of a group."""
        return self.shown.labels.index(self.shown.label(group))

    def look(self, group: Group) -> dict[str, Any]:
        """Say how a group's box or bar looks."""
        colour = self.shown.colour(group)
        plain = group.path is not None
        return {
            "facecolor": "#ffffff" if plain else (colour, FILL),
            "edgecolor": colour,
            "hatch": HATCHES[self.series(group)],
            "linestyle": "--" if plain else "-",
            "linewidth": 0.7,
        }

    def finish(self, paper: Paper, axes: Axes, drawn: dict[str, Artist]) -> None:
        """Name values along the figure, and series above it."""
        axes.set_xticks(range(len(self.categories)), [self._named(one) for one in self.categories])
        axes.set_xlim(-0.5, len(self.categories) - 0.5)
        axes.tick_params(axis="x", length=0)
        axes.grid(visible=False, axis="x")
        for edge in range(1, len(self.categories)):
            axes.axvline(edge - 0.5, color="#dddddd", linewidth=0.4)
        if self.first:
            axes.set_xlabel(capital(self.first))
        paper.legend_above(list(drawn.values()), list(drawn))
        paper.part_labels(axes)

    def _named(self, category: Any) -> str:
        if category is not None:
            return str(category)
        # Some values may have plain TCP of their own.
        own = any(one.path is not None and self.first in one.axes for one in self.shown.groups)
        return f"{'other' if own else 'any'} {self.first}" if self.first else ""
