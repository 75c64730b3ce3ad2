"""Draws the tables of the documentation from ``results.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from experiments.laws import linux
from experiments.laws.families import LAWS
from experiments.markdown import table

RESULTS = Path(__file__).parent / "results.json"


def markdown(name: str) -> str:
    """Give law and measurement of one family side by side."""
    if name == "linux":
        return linux.markdown()
    law = LAWS[name]
    heads = [
        *law.parameters,
        f"law: {law.quantity}",
        "measured",
        "measured / law",
        "band",
        *law.also,
    ]
    rows = json.loads(RESULTS.read_text())[name]
    return "\n".join(table(heads, map(_cells, rows))) + "\n"


def _cells(row: dict[str, Any]) -> list[str]:
    ratio = row["measured"] / row["law"]
    low, high = row["low"], row["high"]
    band = f"{low:g} and more" if high is None else f"{low:g} to {high:g}"
    holds = low <= ratio and (high is None or ratio <= high)
    within = f"{ratio:.3f}" if holds else f"**{ratio:.3f}**"
    if row["found"]:
        band = f"found: {band}"
    figures = [_number(row["law"]), _number(row["measured"]), within, band]
    return [*row["of"], *figures, *row["also"]]


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
