"""Draws the table of the documentation from ``results.json``."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from experiments.engines.cases import CASES

RESULTS = Path(__file__).parent / "results.json"
RESAMPLES = 4000
COLUMNS = {
    "throughput_mbps": "Mbit/s",
    "rtt_ms_mean": "RTT ms, mean",
    "rtt_ms_p95": "RTT ms, p95",
    "loss_rate_percent": "loss %",
    "share_percent": "share of the first path %",
    "out_of_order_delay_ms_mean": "out-of-order delay ms",
}


def markdown() -> str:
    """Give two tables: throughput with the interval of the ratio, then all other figures."""
    results = json.loads(RESULTS.read_text())["cases"]
    return f"{_ratios(results)}\n{_figures(results)}"


def _ratios(results: dict[str, Any]) -> str:
    lines = [
        "| scenario | simulation | kernel | runs | simulation / kernel | within |",
        "|---|---|---|---|---|---|",
    ]
    for case in CASES:
        ours, theirs = (
            _values(results, case.name, engine, "throughput_mbps") for engine in ENGINES
        )
        ratio = fmean(ours) / fmean(theirs)
        low, high = interval(ours, theirs)
        within = _within(ratio, (low, high), case.band_percent / 100)
        lines.append(
            f"| {case.name} | {_spread(ours)} | {_spread(theirs)} | {len(ours)} + {len(theirs)} "
            f"| {ratio:.3f} [{low:.3f}, {high:.3f}] | {within}, ±{case.band_percent} % |"
        )
    return "\n".join(lines) + "\n"


def _within(ratio: float, interval: tuple[float, float], band: float) -> str:
    if abs(ratio - 1) > band:
        return "**no**"
    return "yes" if all(abs(end - 1) <= band for end in interval) else "open"


def _figures(results: dict[str, Any]) -> str:
    columns = {key: title for key, title in COLUMNS.items() if key != "throughput_mbps"}
    lines = [
        "| scenario | " + " | ".join(columns.values()) + " |",
        "|---" * (1 + len(columns)) + "|",
    ]
    for case in CASES:
        cells = []
        for key in columns:
            pair = [_values(results, case.name, engine, key) for engine in ENGINES]
            known = case.is_multipath or key != "share_percent"
            cells.append(
                " · ".join(_short(fmean(one)) for one in pair) if known and all(pair) else ""
            )
        lines.append(f"| {case.name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def interval(ours: list[float], theirs: list[float]) -> tuple[float, float]:
    """Give the 90 % interval of the ratio of the means: percentile bootstrap (Efron and Tibshirani 1993, §13.3)."""
    chance = random.Random(1)
    ratios = sorted(
        fmean(chance.choices(ours, k=len(ours))) / fmean(chance.choices(theirs, k=len(theirs)))
        for _ in range(RESAMPLES)
    )
    return ratios[round(0.05 * RESAMPLES)], ratios[round(0.95 * RESAMPLES) - 1]


ENGINES = ("simulation", "kernel")


def _values(results: dict[str, Any], case: str, engine: str, key: str) -> list[float]:
    values = [run[key] for run in results.get(case, {}).get(engine, [])]
    return [value for value in values if value is not None]


def _spread(values: list[float]) -> str:
    return f"{_short(fmean(values))} ± {_short(stdev(values))}"


def _short(value: float) -> str:
    return re.sub(r"\.$", "", f"{value:#.3g}") if abs(value) < 1000 else f"{value:.0f}"
