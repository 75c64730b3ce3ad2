"""What differs between two measurements."""

from __future__ import annotations

from dataclasses import asdict
from functools import cached_property

from mptcplab._core import Error
from mptcplab.results.differences import configuration, repeated
from mptcplab.results.differences.figures import Figure, side_by_side
from mptcplab.results.statistics.estimate import SEED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.analysis import Analysis
    from mptcplab.results.differences.configuration import Setting
    from mptcplab.results.differences.repeated import Contrast, Gains
    from mptcplab.results.differences.side import Side

# Version of the document.
SCHEMA = 1


class Differences:
    """Two sides: the configuration first, then figures."""

    def __init__(self, a: Side, b: Side, *, level: float) -> None:
        self.a = a
        self.b = b
        self.level = level
        #: Whether both have runs under several seeds, or one has and the other under one.
        self.over_seeds = "seeds" in (a.kind, b.kind)
        if self.over_seeds and not (a.comparisons and b.comparisons):
            seeds, other = (a, b) if a.kind == "seeds" else (b, a)
            what = "a run" if other.kind == "run" else "captures"
            raise Error(
                f"{seeds.place} holds runs of several seeds, {other.place} {what}: "
                "compare one of its seeds, or runs of several seeds with each other"
            )

    @cached_property
    def configuration(self) -> list[Setting] | None:
        """What differs between the configurations; None where a side does not tell its own."""
        a, b = self.a.configuration, self.b.configuration
        return None if a is None or b is None else configuration.differing(a, b)

    @cached_property
    def figures(self) -> list[Figure]:
        """Figures side by side, of runs with the same name, single runs, and captures."""
        matched = [] if self.over_seeds else self._matched()
        return [figure for run, a, b in matched for figure in side_by_side(run, a, b)]

    @cached_property
    def contrasts(self) -> list[Contrast]:
        """Figures over several seeds side by side, with paired differences."""
        if not self.over_seeds or self.a.repeated is None or self.b.repeated is None:
            return []
        return repeated.contrasts(self.a.repeated, self.b.repeated, level=self.level, seed=SEED)

    @cached_property
    def gains(self) -> list[Gains]:
        """Gains over the best single path, over several seeds."""
        if not self.over_seeds or self.a.repeated is None or self.b.repeated is None:
            return []
        return repeated.gains(self.a.repeated, self.b.repeated, level=self.level, seed=SEED)

    def document(self) -> dict[str, Any]:
        """Give everything as one document."""
        settings = self.configuration
        return {
            "schema": SCHEMA,
            "level": self.level,
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
        return f"<mptcplab.Differences between {self.a.place} and {self.b.place}>"
