"""A calibrated link as a file that scenarios may name as a profile."""

from __future__ import annotations

from pathlib import Path

from mptcplab.calibration.fit import Fit
from mptcplab.calibration.target import FIGURES, rounded
from mptcplab.scenario.long import DIRECTIONS, written
from mptcplab.writing import write_whole


def write(fit: Fit, target: Path) -> None:
    """Write the profile."""
    write_whole(target, text(fit).encode())


def text(fit: Fit) -> str:
    """Give the profile as TOML."""
    lines = [f"title = {written(fit.subject.title)}", *_comments(fit)]
    lines += [
        f"{direction} = {written(fit.link[direction], apart=True)}" for direction in DIRECTIONS
    ]
    for name, draw in fit.link.get("draw", {}).items():
        lines += ["", f"[draw.{name}]", *(f"{key} = {written(draw[key])}" for key in draw)]
    lines += ["", "[origin]"]
    lines += [f"{key} = {written(value)}" for key, value in fit.subject.origin.items()]
    lines += ["", "[origin.residuals]"]
    lines += [f"{one.target.figure} = {written(one.row())}" for one in fit.residuals]
    return "\n".join(lines) + "\n"


def _comments(fit: Fit) -> list[str]:
    """Write comments on what was fitted, to which figures, and what was not."""
    figures = [
        f"{name} {rounded(fit.parameters[name])} for {FIGURES[figure]}"
        for name, figure in fit.fitted.items()
    ]
    rest = [
        f"{name} {rounded(value)}"
        for name, value in fit.parameters.items()
        if name not in fit.fitted
    ]
    lines = ["# Written by mptcplab calibrate. Fitted: " + "; ".join(figures) + "."]
    if rest:
        lines.append("# Taken as they are: " + ", ".join(rest) + "; and the way back.")
    if fit.missed:
        lines.append(
            "# This link does NOT show what was measured of: " + ", ".join(fit.missed) + "."
        )
    return lines
