"""What differs between two measurements."""

from __future__ import annotations

from dataclasses import asdict
from functools import cached_property

from mptcplab._core import Error
from mptcplab.results.differences import configuration, contrasts
from mptcplab.results.differences.figures import Figure, side_by_side
from mptcplab.results.statistics import pairs_needed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.analysis import Analysis
    from mptcplab.results.differences.configuration import Setting
    from mptcplab.results.differences.contrasts import Contrast, Gains, Progress
    from mptcplab.results.differences.repeated import Repeated
    from mptcplab.results.differences.side import Side

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
        #: What tells configurations apart on both sides.
        self.axes = [axis for axis in a.axes if axis in b.axes]
        _check_kinds(a, b)
        _check_axes(a, b, self.axes)

    @cached_property
    def configuration(self) -> list[Setting] | None:
        """What differs between the configurations; None where a side does not tell its own.

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
            "contrasts": [asdict(one) for one in self.contrasts],
            "gains": [asdict(one) for one in self.gains],
        }

    @cached_property
    def _repeated(self) -> tuple[Repeated | None, Repeated | None]:
        if not self.over_seeds:
            return None, None
        return self.a.repeated(self.axes), self.b.repeated(self.axes)

    def _matched(self) -> list[tuple[str | None, Analysis, Analysis]]:
        """Runs with the same name; a single one meets whatever stands for the other side."""
        a, b = self.a.analyses, self.b.analyses
        shared = [name for name in a if name in b]
        if shared:
            return [(name, a[name], b[name]) for name in shared]
        (one, first), (other, second) = (next(iter(side.items())) for side in (a, b))
        names = dict.fromkeys(name for name in (one, other) if name is not None)
        return [(" / ".join(names) or None, first, second)]

    def __repr__(self) -> str:
        return f"<mptcplab.Differences between {self.a.name} and {self.b.name}>"


def _check_kinds(a: Side, b: Side) -> None:
    """Refuse what has no pairs."""
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
