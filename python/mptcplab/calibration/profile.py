"""A calibrated link as a file that scenarios may name as a profile."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mptcplab.calibration.choice import Choice
from mptcplab.calibration.fit import Fit
from mptcplab.calibration.target import FIGURES, rounded
from mptcplab.scenario.long import DIRECTIONS, written
from mptcplab.writing import write_whole


def write(choice: Choice, target: Path) -> None:
    """Write the profile."""
    write_whole(target, text(choice).encode())


def text(choice: Choice) -> str:
    """Give the profile as TOML."""
    (fit, own), *others = _parts(choice)
    origin = fit.subject.origin | {"why": choice.reason}
    lines = [f"title = {written(fit.subject.title)}", *_comments(fit), *_elements(own)]
    for name, draw in own.get("draw", {}).items():
        lines += ["", f"[draw.{name}]", *_pairs(draw)]
    for other, one in others:
        lines += ["", "[[alternatives]]", *_comments(other), f"weight = {one['weight']}"]
        lines += _elements(one)
        if "draw" in one:
            lines.append(f"draw = {written(one['draw'])}")
    lines += ["", "[origin]", *_pairs(origin)]
    lines.append(f"families = {written(choice.rows(), apart=True)}")
    lines += ["", "[origin.residuals]"]
    lines += [f"{one.target.figure} = {written(one.row())}" for one in fit.residuals]
    return "\n".join(lines) + "\n"


def link(choice: Choice) -> dict[str, Any]:
    """Give the link as a scenario has it, with what else it may be."""
    (_, own), *others = _parts(choice)
    own.pop("weight")
    return own | ({"alternatives": [one for _, one in others]} if others else {})


def _parts(choice: Choice) -> Iterator[tuple[Fit, dict[str, Any]]]:
    """Give all that the link may be, each with its weight; a family may be several."""
    for one in choice.standing:
        own = one.fit.link
        others = own.get("alternatives", [])
        rest = 1 - math.fsum(other["weight"] for other in others)
        for part in (own | {"weight": rest}, *others):
            whole = part | {"weight": round(one.weight * part["weight"], 3)}
            yield one.fit, {key: value for key, value in whole.items() if key != "alternatives"}


def _pairs(table: dict[str, Any]) -> list[str]:
    return [f"{key} = {written(value)}" for key, value in table.items()]


def _elements(link: dict[str, Any]) -> list[str]:
    return [f"{direction} = {written(link[direction], apart=True)}" for direction in DIRECTIONS]


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
