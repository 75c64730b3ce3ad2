"""A calibrated link as a file that scenarios may name as a profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mptcplab.calibration.choice import Choice, Scored
from mptcplab.calibration.fit import Fit
from mptcplab.calibration.target import FIGURES, rounded
from mptcplab.scenario.long import DIRECTIONS, written
from mptcplab.writing import write_whole


def write(choice: Choice, target: Path) -> None:
    """Write the profile."""
    write_whole(target, text(choice).encode())


def text(choice: Choice) -> str:
    """Give the profile as TOML."""
    first, *others = choice.standing
    fit, origin = first.fit, first.fit.subject.origin | {"why": choice.reason}
    lines = [f"title = {written(fit.subject.title)}", *_comments(fit), *_elements(fit)]
    for name, draw in fit.link.get("draw", {}).items():
        lines += ["", f"[draw.{name}]", *_pairs(draw)]
    for one in others:
        lines += ["", "[[alternatives]]", *_comments(one.fit), *_pairs(_weight(one))]
        lines += _elements(one.fit)
        if "draw" in one.fit.link:
            lines.append(f"draw = {written(one.fit.link['draw'])}")
    lines += ["", "[origin]", *_pairs(origin)]
    lines.append(f"families = {written(choice.rows(), apart=True)}")
    lines += ["", "[origin.residuals]"]
    lines += [f"{one.target.figure} = {written(one.row())}" for one in fit.residuals]
    return "\n".join(lines) + "\n"


def link(choice: Choice) -> dict[str, Any]:
    """Give the link as a scenario has it, with what else it may be."""
    first, *others = choice.standing
    if not others:
        return first.fit.link
    return first.fit.link | {"alternatives": [_weight(one) | one.fit.link for one in others]}


def _weight(one: Scored) -> dict[str, float]:
    return {"weight": round(one.weight, 3)}


def _pairs(table: dict[str, Any]) -> list[str]:
    return [f"{key} = {written(value)}" for key, value in table.items()]


def _elements(fit: Fit) -> list[str]:
    return [f"{direction} = {written(fit.link[direction], apart=True)}" for direction in DIRECTIONS]


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
    lines = [
        f"# {fit.family.title[0].upper()}{fit.family.title[1:]}: of {fit.family.source}.",
        "# Written by mptcplab calibrate. Fitted: " + "; ".join(figures) + ".",
    ]
    if rest:
        lines.append("# Taken as they are: " + ", ".join(rest) + "; and the way back.")
    if fit.missed:
        lines.append(
            "# This link does NOT show what was measured of: " + ", ".join(fit.missed) + "."
        )
    return lines
