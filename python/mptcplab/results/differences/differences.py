"""What differs between two measurements."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from os import PathLike, fspath
from typing import Any

from mptcplab import pages
from mptcplab._core import Error
from mptcplab.analysis import Analysis
from mptcplab.labels.findings import counted
from mptcplab.results.campaign import Campaign
from mptcplab.results.comparison import Comparison
from mptcplab.results.differences import configuration, contrasts
from mptcplab.results.differences.configuration import Setting
from mptcplab.results.differences.contrasts import (
    Contrast,
    Gains,
    Progress,
    Repeated,
    of_campaign,
    of_comparisons,
)
from mptcplab.results.differences.figures import Figure, side_by_side
from mptcplab.results.findings import findings
from mptcplab.results.opening import opened
from mptcplab.results.run import Run
from mptcplab.results.statistics import pairs_needed

Comparable = str | PathLike[str] | Analysis | Comparison | list[Comparison] | Campaign


# The names of kinds that may have no path.
WITHOUT_PATH = {"seeds": "a list", "captures": "an analysis"}


@dataclass(frozen=True)
class Found:
    """A kind of finding on a side: in how many of its runs, and its median cost."""

    runs: int
    of: int
    cost_s: float | None


@dataclass
class Side:
    """What is compared, opened."""

    #: ``run``, ``comparison``, ``seeds``, ``campaign`` or ``captures``.
    kind: str
    #: Its file or directory; None if that is not known.
    path: str | None
    #: Analyses by the run's name; that of captures has none.
    analyses: dict[str | None, Analysis] = field(default_factory=dict)
    #: One per seed.
    comparisons: list[Comparison] = field(default_factory=list)
    campaign: Campaign | None = None

    @classmethod
    def of(cls, measurement: Comparable) -> Side:
        """Open it."""
        path = fspath(measurement) if isinstance(measurement, (str, PathLike)) else None
        found = opened(measurement) if isinstance(measurement, (str, PathLike)) else measurement
        if isinstance(found, list):
            if not found:
                raise Error("there is nothing to compare: the list is empty")
            return cls("seeds", path, comparisons=found)
        if isinstance(found, Campaign):
            return cls("campaign", path or str(found.directory), campaign=found)
        if isinstance(found, Comparison):
            analyses: dict[str | None, Analysis] = {run.name: run for run in found.runs}
            return cls("comparison", path or str(found.directory), analyses, [found])
        if isinstance(found, Run):
            return cls("run", path or str(found.directory), {found.name: found})
        return cls("captures", path, {None: found})

    @property
    def name(self) -> str:
        """Its path, or what it is."""
        return self.path or WITHOUT_PATH[self.kind]

    @property
    def axes(self) -> dict[str, list[Any]]:
        """What varies, where it is a campaign."""
        return {} if self.campaign is None else self.campaign.axes

    @property
    def run(self) -> Run | None:
        """The representative run: that with MPTCP, where there is one."""
        if self.comparisons:
            return self.comparisons[0].mptcp
        first = next(iter(self.analyses.values()), None)
        return first if isinstance(first, Run) else None

    def repeated(self, axes: list[str]) -> Repeated | None:
        """Give figures by seed, of configurations that these axes distinguish."""
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

    @cached_property
    def findings(self) -> dict[str, Found]:
        """In how many of its runs of MPTCP, or its captures, each kind was found."""
        if self.campaign is not None:
            found: dict[str, int] = {}
            for row in self.campaign.findings.iter_rows(named=True):
                found[row["finding"]] = found.get(row["finding"], 0) + row["runs"]
            own = self.campaign.runs.filter(kind="mptcp").height
            return {kind: Found(runs, own, None) for kind, runs in found.items()}
        rows = [findings(one) for one in self.comparisons] or [
            list(one.findings.iter_rows(named=True)) for one in self.analyses.values()
        ]
        return {kind: Found(runs, len(rows), cost) for kind, runs, cost in counted(rows)}

    def document(self) -> dict[str, Any]:
        """Describe it."""
        return {
            "kind": self.kind,
            "place": self.path,
            "scenario": self.about.get("scenario"),
            "engine": self.about.get("engine"),
            "seeds": self.seeds,
        }


# Version of the document.
SCHEMA = 1
# Kinds of sides with several seeds.
SEVERAL = {"seeds", "campaign"}
SINGLE = {"run": "a run", "captures": "captures", "campaign": "a campaign"}


class Differences:
    """Two sides: the configuration first, then figures."""

    def __init__(self, a: Side, b: Side, *, level: float, progress: Progress | None = None) -> None:
        self.a = a
        self.b = b
        self.level = level
        self._progress = progress
        #: Whether a side has runs of several seeds, which are compared seed by seed.
        self.over_seeds = not SEVERAL.isdisjoint((a.kind, b.kind))
        #: What distinguishes configurations on both sides.
        self.axes = [axis for axis in a.axes if axis in b.axes]
        _check_kinds(a, b)
        _check_axes(a, b, self.axes)

    @cached_property
    def configuration(self) -> list[Setting] | None:
        """What differs between the configurations; None where a side does not know its own.

        Of campaigns, the first of the configurations that both have.
        """
        both = [one.configuration for one in self.contrasts if one.run == "mptcp"]
        first = both[0] if both else ""
        a, b = (configuration.of_side(side, first, self.axes) for side in (self.a, self.b))
        return None if a is None or b is None else configuration.differing(a, b)

    @cached_property
    def figures(self) -> list[Figure]:
        """Figures side by side, of runs with the same name, single runs, and captures."""
        matched = [] if self.over_seeds else self._matched()
        return [figure for run, a, b in matched for figure in side_by_side(run, a, b)]

    @cached_property
    def findings(self) -> list[tuple[str, Found | None, Found | None]]:
        """Kinds of findings on either side, those that only one side has first."""
        a, b = self.a.findings, self.b.findings
        kinds = sorted({*a, *b}, key=lambda kind: (kind in a and kind in b, kind))
        return [(kind, a.get(kind), b.get(kind)) for kind in kinds]

    @cached_property
    def contrasts(self) -> list[Contrast]:
        """Figures over several seeds side by side, with paired differences."""
        a, b = self._repeated
        if a is None or b is None:
            return []
        return contrasts.contrasts(a, b, level=self.level, progress=self._progress)

    @cached_property
    def gains(self) -> list[Gains]:
        """Gains over the best single path, over several seeds."""
        a, b = self._repeated
        return contrasts.gains(a, b, level=self.level) if a and b else []

    def document(self) -> dict[str, Any]:
        """Give everything as one document.

        With fewer than ``pairs_needed`` no p-value can be below 1 − ``level``.
        """
        settings = self.configuration
        return {
            "schema": SCHEMA,
            "level": self.level,
            "pairs_needed": pairs_needed(self.level),
            "a": self.a.document(),
            "b": self.b.document(),
            "configuration": None if settings is None else [asdict(one) for one in settings],
            "figures": [
                {**asdict(one), "difference": one.difference, "relative": one.relative}
                for one in self.figures
            ],
            "findings": [
                {"kind": kind, "a": a and asdict(a), "b": b and asdict(b)}
                for kind, a, b in self.findings
            ],
            "contrasts": [asdict(one) for one in self.contrasts],
            "gains": [asdict(one) for one in self.gains],
        }

    @cached_property
    def _repeated(self) -> tuple[Repeated | None, Repeated | None]:
        if not self.over_seeds:
            return None, None
        return self.a.repeated(self.axes), self.b.repeated(self.axes)

    def _matched(self) -> list[tuple[str | None, Analysis, Analysis]]:
        """Pair runs with the same name; a single run with the representative of the other side."""
        a, b = self.a.analyses, self.b.analyses
        shared = [name for name in a if name in b]
        if shared:
            return [(name, a[name], b[name]) for name in shared]
        (one, first), (other, second) = (next(iter(side.items())) for side in (a, b))
        names = dict.fromkeys(name for name in (one, other) if name is not None)
        return [(" / ".join(names) or None, first, second)]

    def _repr_html_(self) -> str:
        return pages.html(self)

    def __repr__(self) -> str:
        return f"<mptcplab.Differences between {self.a.name} and {self.b.name}>"


def _check_kinds(a: Side, b: Side) -> None:
    """Refuse kinds that have no pairs."""
    for one, other in ((a, b), (b, a)):
        if one.kind == "campaign" and other.kind != "campaign":
            raise Error(
                f"{one.name} is a campaign, {other.name} is none: compare it with another one"
            )
        if one.kind == "seeds" and not other.comparisons:
            raise Error(
                f"{one.name} holds runs of several seeds, {other.name} {SINGLE[other.kind]}: "
                "compare one of its seeds, or runs of several seeds with each other"
            )


def _check_axes(a: Side, b: Side, shared: list[str]) -> None:
    """Refuse campaigns of which one has several configurations for one of the other."""
    for side, other in ((a, b), (b, a)):
        for axis, values in side.axes.items():
            if axis not in shared and len(values) > 1:
                raise Error(
                    f"{side.name} varies {axis}, {other.name} has no such axis: "
                    "compare campaigns that vary the same"
                )
