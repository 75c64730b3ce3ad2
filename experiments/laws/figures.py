"""The figures of the page, from ``results.json``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from experiments.laws.chart import Axis, Series, svg

RESULTS = Path(__file__).parent / "results.json"
Rows = list[dict[str, Any]]


def drawings() -> dict[str, str]:
    """Give each figure's name and what it is as SVG."""
    results: dict[str, Rows] = json.loads(RESULTS.read_text())
    return {
        "laws-padhye.svg": rate_over_loss(results["padhye"]),
        "laws-buffer.svg": throughput_over_buffer(results["buffer"], results["schedulers"]),
    }


def rate_over_loss(rows: Rows) -> str:
    """Draw Padhye's model as lines, the simulation as dots."""

    def drawn(rtt: str, recovery: str, name: str) -> Series:
        own = [row for row in rows if (row["of"][0], row["of"][2]) == (recovery, rtt)]
        law, measured = (
            tuple((percent(row["of"][1]), row[what]) for row in own) for what in ("law", "measured")
        )
        return Series(name, measured, law)

    rtts = tuple(dict.fromkeys(row["of"][2] for row in rows))
    recoveries = tuple(dict.fromkeys(row["of"][0] for row in rows))
    return svg(
        Axis("loss %", (0.1, 0.2, 0.5, 1, 2, 5)),
        Axis("packets/s", (10, 30, 100, 300, 1000, 3000, 10_000)),
        [drawn(rtt, one, f"{one}, {rtt}") for one in recoveries for rtt in rtts],
    )


def throughput_over_buffer(knee: Rows, others: Rows) -> str:
    """Draw what a buffer of so many times the rule gives, by scheduler."""
    bulk = [row for row in others if row["of"][1] == "bulk"]
    policies = dict.fromkeys(row["of"][0] for row in bulk)
    series = [Series("lowest-rtt", points(knee, lambda row: row["of"][0]))]
    series += [
        Series(
            name, points([row for row in bulk if row["of"][0] == name], lambda row: row["of"][2])
        )
        for name in policies
    ]
    return svg(
        Axis("receive buffer / rule", tuple(2.0**power for power in range(-5, 2)), fraction),
        Axis("Mbit/s", (0, 5, 10, 15, 20, 25), is_logarithmic=False),
        series,
    )


def points(rows: Rows, across: Callable[[dict[str, Any]], str]) -> tuple[tuple[float, float], ...]:
    """Give what was measured over a parameter."""
    return tuple((float(across(row)), row["measured"]) for row in rows)


def percent(text: str) -> float:
    """Read a number of percent."""
    return float(text.removesuffix("%"))


def fraction(value: float) -> str:
    """Write a power of two as people do."""
    return f"{value:g}" if value >= 1 else f"1/{1 / value:g}"
