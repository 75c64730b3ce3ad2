"""Draws the tables of the documentation from ``results.json`` and ``healthy.json``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from experiments.guard.figures import left_s
from experiments.guard.scenarios import DEADLY, HEALTHY
from experiments.markdown import table

HERE = Path(__file__).parent
RESULTS, UNTOUCHED = HERE / "results.json", HERE / "healthy.json"
Row = dict[str, Any]
Pair = tuple[Row, Row]
# What is called worse, or a third.
WORSE, THIRD, REUSED_S = 1.1, 1 / 3, 1.0
# What is compared, and whether more of it is worse.
COMPARED = {"age_ms": True, "gap_ms": True, "mbps": False}


def markdown(part: str) -> str:
    """Give the table of an engine (``simulation``, ``kernel``), the goals (``goals``), what is well (``healthy``) or decisions (``times``)."""
    results = json.loads(RESULTS.read_text())
    if part == "healthy":
        return "\n".join(_healthy(json.loads(UNTOUCHED.read_text())["rows"], results))
    if part == "goals":
        return "\n".join(_goals(results))
    if part == "times":
        return "\n".join(_times(results))
    return "\n".join(_all(pairs(results[part])))


def pairs(rows: list[Row]) -> list[Pair]:
    """Put the rows of the kernel alone and of the guard together."""
    by_manager: dict[tuple[str, ...], Row] = {
        (row["way"], row["load"], row["beside"], row["manager"]): row for row in rows
    }
    return [
        (row, by_manager[*key[:3], "guard"])
        for key, row in by_manager.items()
        if key[3] == "linux" and (*key[:3], "guard") in by_manager
    ]


def typical(row: Row, name: str) -> float | None:
    """Give the median over the runs that have it."""
    values = [value for value in row[name] if value is not None]
    return median(values) if values else None


def left(row: Row) -> list[float]:
    """Say how long after Wi-Fi went it was left, of the runs in which it was."""
    found = (left_s({"suspended_s": times}) for times in row["suspended_s"])
    return [seconds for seconds in found if seconds is not None]


def worse(pair: Pair) -> list[str]:
    """Name what the guard makes worse than the kernel alone."""
    found = []
    for name, more_is_worse in COMPARED.items():
        alone, guarded = (typical(row, name) for row in pair)
        if alone and guarded:
            ratio = guarded / alone if more_is_worse else alone / guarded
            if ratio > WORSE:
                found.append(name)
    return found


def _all(compared: list[Pair]) -> Iterator[str]:
    heads = ["Wi-Fi", "load", "beside", "runs", "age, ms", "gap, ms", "Mbit/s", "back after, s"]
    cells = []
    for alone, guarded in compared:
        both = [
            f"{_cell(typical(alone, name))} → {_cell(typical(guarded, name))}"
            for name in ("age_ms", "gap_ms", "mbps", "reused_s")
        ]
        times = left(guarded)
        was_left = f"{_cell(median(times))} s in {len(times)}" if times else "–"
        runs = str(len(guarded["mbps"]))
        beside = guarded["beside"] or "LTE"
        cells.append([guarded["way"], guarded["load"], beside, runs, *both, was_left])
    yield from table([*heads, "left after"], cells)


def _goals(results: dict[str, Any]) -> Iterator[str]:
    cells = []
    for engine in ("simulation", "kernel"):
        compared = pairs(results.get(engine, []))
        deadly = [pair for pair in compared if pair[0]["way"] in DEADLY]
        aged = [pair for pair in deadly if typical(pair[0], "age_ms") is not None]
        third = [pair for pair in aged if _ratio(pair) <= THIRD]
        back = [seconds for _, row in deadly for seconds in row["reused_s"] if seconds is not None]
        soon = [seconds for seconds in back if seconds <= REUSED_S]
        bad = [pair for pair in compared if worse(pair)]
        ratios = sorted(_ratio(pair) for pair in aged)
        cells.append(
            [
                engine,
                f"{len(third)} of {len(aged)}; {ratios[0]:.2f} to {ratios[-1]:.2f}, median {median(ratios):.2f}"
                if ratios
                else "–",
                f"{len(soon)} of {len(back)} runs",
                f"{len(bad)} of {len(compared)}: {'; '.join(map(_name, bad)) or 'none'}",
            ]
        )
    yield from table(
        ["engine", "age at most a third", "carries again within 1 s", "worse by more than 10 %"],
        cells,
    )


def _name(pair: Pair) -> str:
    row = pair[1]
    what = ", ".join(name.partition("_")[0] for name in worse(pair))
    return " ".join(filter(None, (row["way"], row["load"], row["beside"]))) + f" ({what})"


def _ratio(pair: Pair) -> float:
    alone, guarded = (typical(row, "age_ms") for row in pair)
    return guarded / alone if alone and guarded else 1.0


def _healthy(rows: list[Row], results: dict[str, Any]) -> Iterator[str]:
    kernel = [row for row in results.get("kernel", []) if row["way"] in HEALTHY]
    cells = []
    for way in HEALTHY:
        own = [row for row in rows if row["way"] == way]
        played = [row for row in kernel if row["way"] == way]
        cells.append(
            [
                way,
                str(sum(row["runs"] for row in own)),
                str(sum(row["suspicions"] for row in own)),
                str(sum(len(row["suspensions"]) for row in own)),
                str(sum(len(row["mbps"]) for row in played)),
                str(sum(sum(row["suspicions"]) for row in played)),
                str(sum(len(times) for row in played for times in row["suspended_s"])),
            ]
        )
    heads = ["Wi-Fi", "simulated runs", "suspected", "suspended"]
    yield from table([*heads, "runs with Linux", "suspected", "suspended"], cells)


def _times(results: dict[str, Any]) -> Iterator[str]:
    found: dict[tuple[str, ...], dict[str, Row]] = {}
    for engine in ("simulation", "kernel"):
        for _, row in pairs(results.get(engine, [])):
            found.setdefault((row["way"], row["load"], row["beside"]), {})[engine] = row
    cells = []
    for (way, load, beside), rows in found.items():
        if len(rows) < 2:
            continue
        times = {engine: left(row) for engine, row in rows.items()}
        if not all(times.values()):
            continue
        simulated, played = (median(times[engine]) for engine in ("simulation", "kernel"))
        near = abs(simulated - played) <= max(0.05, 0.2 * simulated)
        ranges = [_range(times[engine]) for engine in ("simulation", "kernel")]
        cells.append([way, load, beside or "LTE", *ranges, "yes" if near else "no"])
    heads = ["Wi-Fi", "load", "beside", "simulated, s", "Linux, s", "medians within 20 % or 50 ms"]
    yield from table(heads, cells)


def _range(values: list[float]) -> str:
    return f"{min(values):.2f}–{max(values):.2f}"


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"
