"""One of two things that are compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike, fspath

from mptcplab._core import Error
from mptcplab.analysis import Analysis
from mptcplab.results.comparison import Comparison
from mptcplab.results.differences import configuration
from mptcplab.results.differences.repeated import Repeated, of_comparisons
from mptcplab.results.opening import opened
from mptcplab.results.run import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.results.differences.configuration import Configuration

    Comparable = str | PathLike[str] | Analysis | Comparison | list[Comparison]


@dataclass
class Side:
    """What is compared, opened."""

    #: ``run``, ``comparison``, ``seeds`` or ``captures``.
    kind: str
    #: Where it lies; None if that is not known.
    place: str | None
    #: Analyses by the run's name; that of captures has none.
    analyses: dict[str | None, Analysis] = field(default_factory=dict)
    #: One per seed.
    comparisons: list[Comparison] = field(default_factory=list)

    @classmethod
    def of(cls, what: Comparable) -> Side:
        """Open it."""
        place = fspath(what) if isinstance(what, (str, PathLike)) else None
        found = opened(what) if isinstance(what, (str, PathLike)) else what
        if isinstance(found, list):
            if not found:
                raise Error("there is nothing to compare: the list is empty")
            return cls("seeds", place or str(found[0].directory.parent), comparisons=found)
        if isinstance(found, Comparison):
            analyses: dict[str | None, Analysis] = {run.name: run for run in found.runs}
            return cls("comparison", place or str(found.directory), analyses, [found])
        if isinstance(found, Run):
            return cls("run", place or str(found.directory), {found.name: found})
        return cls("captures", place, {None: found})

    @property
    def run(self) -> Run | None:
        """The run that stands for all: that with MPTCP, where there is one."""
        if self.comparisons:
            return self.comparisons[0].mptcp
        first = next(iter(self.analyses.values()))
        return first if isinstance(first, Run) else None

    @cached_property
    def configuration(self) -> Configuration | None:
        """How it was configured; captures do not tell."""
        if self.run is None:
            return None
        found = configuration.of_run(self.run)
        if self.kind == "seeds":
            found["run", "seed"] = ", ".join(
                str(one.mptcp.about["seed"]) for one in self.comparisons
            )
        return found

    @cached_property
    def repeated(self) -> Repeated | None:
        """Figures by seed."""
        return of_comparisons(self.comparisons) if self.comparisons else None

    def document(self) -> dict[str, Any]:
        """Say what it is."""
        about = {} if self.run is None else self.run.about
        runs = [name for name in self.analyses if name is not None]
        runs = runs or list(dict.fromkeys(run.name for one in self.comparisons for run in one.runs))
        return {
            "kind": self.kind,
            "place": self.place,
            "scenario": about.get("scenario"),
            "engine": about.get("engine"),
            "seeds": [one.mptcp.about["seed"] for one in self.comparisons]
            or [about[key] for key in ("seed",) if key in about],
            "runs": runs,
        }
