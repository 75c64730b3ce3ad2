"""Groups beside each other: the first axis along the figure, everything else within."""

from __future__ import annotations

from mptcplab.figures.groups import Shown, few
from mptcplab.figures.paper import COLOURS, HATCHES, Paper
from mptcplab.metrics import capital

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from mptcplab.results.groups import Group

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
        there = {group.axes.get(self.first) for group in shown.groups}
        #: Values of the first axis; None for what is the same for all of them.
        self.categories: list[Any] = [one for one in values if one in there]
        if None in there:
            self.categories.append(None)
        self.width = ROOM / len(shown.labels)

    def place(self, group: Group) -> float:
        """Say where along the figure a group stands."""
        series = self.series(group)
        middle = (len(self.shown.labels) - 1) / 2
        category = self.categories.index(group.axes.get(self.first))
        return category + (series - middle) * self.width

    def series(self, group: Group) -> int:
        """Number the series of a group."""
        return self.shown.labels.index(self.shown.label(group))

    def look(self, group: Group) -> dict[str, Any]:
        """Say how a group's box or bar looks."""
        number = self.series(group)
        return {
            "facecolor": (COLOURS[number], FILL),
            "edgecolor": COLOURS[number],
            "hatch": HATCHES[number],
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
