"""What a calibration gives."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from mptcplab.calibration import profile
from mptcplab.calibration.choice import Choice
from mptcplab.calibration.target import FIGURES, HEADS, Residual, rounded


class Calibration:
    """A link, and how accurately it reproduces the measurement."""

    def __init__(self, choice: Choice) -> None:
        self.choice = choice
        self.fit = choice.tried[0].fit

    @property
    def name(self) -> str:
        """What the link is called."""
        return self.fit.subject.name

    @property
    def link(self) -> dict[str, Any]:
        """The link, as ``[link.NAME]`` of a scenario has it, with what else it may be."""
        return profile.link(self.choice)

    @property
    def families(self) -> list[dict[str, Any]]:
        """The families of links that were tried, the likeliest first, with how likely each is."""
        return self.choice.rows()

    @property
    def parameters(self) -> dict[str, float]:
        """The fitted parameters, and the fixed ones."""
        return self.fit.parameters

    @property
    def residuals(self) -> dict[str, Residual]:
        """Every target by its figure, beside what the link shows."""
        return {one.target.figure: one for one in self.fit.residuals}

    @property
    def ranges(self) -> dict[str, tuple[float, float] | None]:
        """What nine of ten runs over the link show of each target.

        Each run is over a link of one of the families that stand, as their weights have it.
        """
        return {figure: self.choice.range(figure) for figure in self.residuals}

    @property
    def cells(self) -> list[tuple[str, ...]]:
        """Every target as people read it."""
        return [one.cells(self.ranges[figure]) for figure, one in self.residuals.items()]

    @property
    def missed(self) -> list[str]:
        """Figures that the link does not show: empty if all is well."""
        return self.fit.missed

    @property
    def verdict(self) -> str:
        """The same in words."""
        missed = [FIGURES[figure] for figure in self.missed]
        return f"does not show {', '.join(missed)}" if missed else "shows every figure"

    @property
    def toml(self) -> str:
        """The link as a profile."""
        return profile.text(self.choice)

    def write(self, out: str | PathLike[str]) -> None:
        """Write the link, whole or not at all."""
        profile.write(self.choice, Path(out))

    def _repr_html_(self) -> str:
        from mptcplab.charts.notebook import table, title

        return title(f"{self.name}: {self.verdict}") + table(HEADS, self.cells, 1)

    def __repr__(self) -> str:
        return f"<mptcplab.Calibration {self.name}: {self.verdict}>"

    def document(self) -> dict[str, Any]:
        """Give all of it, for JSON."""
        return {
            "name": self.name,
            "origin": self.fit.subject.origin,
            "missed": self.missed,
            "residuals": {
                name: one.row() | _range(self.ranges[name]) for name, one in self.residuals.items()
            },
            "parameters": self.parameters,
            "fitted": self.fit.fitted,
            "families": self.families,
            "why": self.choice.reason,
            "link": self.link,
        }


def _range(found: tuple[float, float] | None) -> dict[str, float | None]:
    return {} if found is None else {"low": rounded(found[0]), "high": rounded(found[1])}
