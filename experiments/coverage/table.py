"""Draws the tables of the documentation from ``results.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from experiments.markdown import table

RESULTS = Path(__file__).parent / "results.json"
NAMES = {
    "0.9": "90th percentile",
    "BCa": "mean, by a bootstrap (BCa)",
    "gain": "gain over a path",
    "ratio": "ratio of two engines",
}
LINKS = Path(__file__).parent / "links.json"
OF_LINKS = {"throughput": "throughput", "rtt": "RTT", "loss": "loss"}
OF_SAMPLES = ("band", "samples")


def markdown(part: str | None = None) -> str:
    """Give the part of intervals that held the truth: of figures, then of distributions.

    Of ``links``, those of predictions.
    """
    if part == "links":
        return _links(json.loads(LINKS.read_text())["truths"])
    rows = json.loads(RESULTS.read_text())["rows"]
    figures = [row for row in rows if row["statistic"] not in OF_SAMPLES]
    tails = [row for row in rows if row["statistic"] in OF_SAMPLES]
    return f"{_figures(figures)}\n{_tails(tails)}"


def _figures(rows: list[dict[str, Any]]) -> str:
    sizes = sorted({row["n"] for row in rows})
    lines = []
    for statistic, of in dict.fromkeys((row["statistic"], row["of"]) for row in rows):
        own = {row["n"]: row for row in rows if (row["statistic"], row["of"]) == (statistic, of)}
        lines.append([NAMES.get(statistic, statistic), of, *(_part(own.get(n)) for n in sizes)])
    return "\n".join(table(["figure", "of", *(f"n = {n}" for n in sizes)], lines)) + "\n"


def _tails(rows: list[dict[str, Any]]) -> str:
    tails = list(dict.fromkeys(row["of"] for row in rows))
    heads = ["runs", *(f"{how}, at {tail}" for tail in tails for how in ("band", "naive"))]
    lines = []
    for n in sorted({row["n"] for row in rows}):
        own = {(row["of"], row["statistic"]): row for row in rows if row["n"] == n}
        lines.append([str(n), *(_part(own[tail, how]) for tail in tails for how in OF_SAMPLES)])
    return "\n".join(table(heads, lines)) + "\n"


def _links(truths: list[dict[str, Any]]) -> str:
    lines = []
    for figure, name in OF_LINKS.items():
        own = [one[figure] for one in truths if figure in one]
        means = sum(one["low"] <= one["mean"] <= one["high"] for one in own)
        inside, runs = (sum(one[key] for one in own) for key in ("inside", "runs"))
        lines.append([name, f"{means} of {len(own)}", f"{inside / runs:.0%}".replace("%", " %")])
    return "\n".join(table(["figure", "means inside", "runs inside"], lines)) + "\n"


def _part(row: dict[str, Any] | None) -> str:
    return "–" if row is None else f"{row['held'] / row['trials']:.1%}".replace("%", " %")
