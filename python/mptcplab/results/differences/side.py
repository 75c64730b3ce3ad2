"""One of two things that are compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike, fspath

from mptcplab._core import Error
from mptcplab.analysis import Analysis
from mptcplab.results.campaign import Campaign
from mptcplab.results.comparison import Comparison
from mptcplab.results.differences.repeated import Repeated, of_campaign, of_comparisons
from mptcplab.results.opening import opened
from mptcplab.results.run import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Comparable = str | PathLike[str] | Analysis | Comparison | list[Comparison] | Campaign

# What may have no place.
UNPLACED = {"seeds": "a list", "captures": "an analysis"}


@dataclass
class Side:
    """What is compared, opened."""

    #: ``run``, ``comparison``, ``seeds``, ``campaign`` or ``captures``.
    kind: str
    #: Where it lies; None if that is not known.
    place: str | None
    #: Analyses by the run's name; that of captures has none.
    analyses: dict[str | None, Analysis] = field(default_factory=dict)
    #: One per seed.
    comparisons: list[Comparison] = field(default_factory=list)
    campaign: Campaign | None = None

    @classmethod
    def of(cls, what: Comparable) -> Side:
        """Open it."""
        place = fspath(what) if isinstance(what, (str, PathLike)) else None
        found = opened(what) if isinstance(what, (str, PathLike)) else what
        if isinstance(found, list):
            if not found:
                raise Error("there is nothing to compare: the list is empty")
            return cls("seeds", place, comparisons=found)
        if isinstance(found, Campaign):
            return cls("campaign", place or str(found.directory), campaign=found)
        if isinstance(found, Comparison):
            analyses: dict[str | None, Analysis] = {run.name: run for run in found.runs}
            return cls("comparison", place or str(found.directory), analyses, [found])
        if isinstance(found, Run):
            return cls("run", place or str(found.directory), {found.name: found})
        return cls("captures", place, {None: found})

    @property
    def name(self) -> str:
        """Where it lies, or what it is."""
        return self.place or UNPLACED[self.kind]

    @property
    def axes(self) -> dict[str, list[Any]]:
        """What varies, where it is a campaign."""
        return {} if self.campaign is None else self.campaign.axes

    @property
    def run(self) -> Run | None:
        """The run that stands for all: that with MPTCP, where there is one."""
        if self.comparisons:
            return self.comparisons[0].mptcp
        first = next(iter(self.analyses.values()), None)
        return first if isinstance(first, Run) else None

    def repeated(self, axes: list[str]) -> Repeated | None:
        """Give figures by seed, of configurations that these axes tell apart."""
        if self.campaign is not None:
            return of_campaign(self.campaign, axes)
        return of_comparisons(self.comparisons) if self.comparisons else None

    @cached_property
    def about(self) -> dict[str, Any]:
        """What ``run.json`` or ``campaign.json`` holds; captures have none."""
        if self.campaign is not None:
            return self.campaign.about
        return {} if self.run is None else self.run.about

    @property
    def seeds(self) -> list[int]:
        """The seeds of its runs."""
        if self.campaign is not None:
            return sorted(set(self.campaign.plan["seed"]))
        if self.comparisons:
            return [int(one.mptcp.about["seed"]) for one in self.comparisons]
        return [] if self.run is None else [int(self.about["seed"])]

    def document(self) -> dict[str, Any]:
        """Say what it is."""
        return {
            "kind": self.kind,
            "place": self.place,
            "scenario": self.about.get("scenario"),
            "engine": self.about.get("engine"),
            "seeds": self.seeds,
        }
