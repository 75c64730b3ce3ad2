"""Draws the tables of the documentation from ``results.json`` and ``healthy.json``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import Any

from experiments.guard import drives, lost, means, parameters, policies, slow
from experiments.guard.figures import finished, left_s, shown, typical
from experiments.guard.scenarios import DEADLY, HEALTHY
from experiments.markdown import table

HERE = Path(__file__).parent
RESULTS, UNTOUCHED, COST, AGAIN, NOTIFIED = (
    HERE / f"{name}.json" for name in ("results", "healthy", "cost", "again", "notified")
)
Row = dict[str, Any]
Pair = tuple[Row, Row]
# What is called worse, or a third.
WORSE, THIRD, REUSED_S = 1.1, 1 / 3, 1.0
# What runs of the guard are called in which bad paths become backups.
BACKUPS = "guard backup"
RESAMPLED = 2000
# What is compared, and whether more of it is worse.
COMPARED = {"age_ms": True, "gap_ms": True, "mbps": False}


def markdown(part: str) -> str:
    """Give the table of an engine (``simulation``, ``kernel``), the goals (``goals``), what is ``worse``, what is well (``healthy``), decisions (``times``), what bounds ages (``bounds``), ``backups``, ``drives``, requests counted from what is ``lost``, ``means`` of leaving, other ``parameters``, ``policies``, a ``slow`` path beside it or the ``cost``."""
    results = json.loads(RESULTS.read_text())
    if part == "healthy":
        return "\n".join(_healthy(json.loads(UNTOUCHED.read_text())["rows"], results))
    if part == "goals":
        return "\n".join(_goals(results))
    if part == "cost":
        return _cost(json.loads(COST.read_text()))
    own = {
        "drives": drives.markdown,
        "lost": lost.markdown,
        "means": means.markdown,
        "parameters": parameters.markdown,
        "policies": policies.markdown,
        "slow": slow.markdown,
    }
    if part in own:
        return own[part]()
    if part == "worse":
        return "\n".join(_worse(results))
    if part == "bounds":
        return "\n".join(_bounds(results))
    if part == "backups":
        return "\n".join(_backups(results))
    if part == "times":
        return "\n".join(_times(results))
    return "\n".join(_all(pairs(results[part])))


def pairs(rows: list[Row], other: str = "guard") -> list[Pair]:
    """Put the rows of the kernel alone and of the guard, or of another, together."""
    by_manager = {identity(row): row for row in rows}
    return [
        (row, by_manager[*about[:3], other])
        for about, row in by_manager.items()
        if about[3] == "linux" and (*about[:3], other) in by_manager
    ]


def identity(row: Row) -> tuple[str, ...]:
    """Say what a row is of."""
    return tuple(row[name] for name in ("way", "load", "beside", "manager"))


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
    heads = [
        "Wi-Fi",
        "load",
        "other paths",
        "runs",
        "age, ms",
        "gap, ms",
        "Mbit/s",
        "back after, s",
    ]
    cells = []
    for alone, guarded in compared:
        both = [
            f"{shown(typical(alone, name))} → {shown(typical(guarded, name))}"
            for name in ("age_ms", "gap_ms", "mbps", "reused_s")
        ]
        times = left(guarded)
        was_left = f"{shown(median(times))} s in {len(times)}" if times else "–"
        runs = finished(alone, guarded)
        beside = guarded["beside"] or "LTE"
        cells.append([guarded["way"], guarded["load"], beside, runs, *both, was_left])
    yield from table([*heads, "left after"], cells)


def _goals(results: dict[str, Any]) -> Iterator[str]:
    cells = []
    for engine in ("simulation", "kernel"):
        compared = pairs(results.get(engine, []))
        deadly = [pair for pair in compared if pair[0]["way"] in DEADLY]
        old = aged(results.get(engine, []))
        third = [pair for pair in old if not misses(pair)]
        # Where Linux alone has something to carry over it, the guard has, too.
        back = [
            seconds
            for alone, row in deadly
            if typical(alone, "reused_s") is not None
            for seconds in row["reused_s"]
        ]
        soon = [seconds for seconds in back if seconds is not None and seconds <= REUSED_S]
        never = back.count(None)
        bad = [pair for pair in compared if worse(pair)]
        ratios = sorted(_ratio(pair) for pair in old)
        cells.append(
            [
                engine,
                f"{len(third)} of {len(old)}; {ratios[0]:.2f} to {ratios[-1]:.2f}, median {median(ratios):.2f}"
                if ratios
                else "–",
                f"{len(soon)} of {len(back)} runs, never in {never}",
                f"{len(bad)} of {len(compared)}: {'; '.join(map(_name, bad)) or 'none'}",
            ]
        )
    yield from table(
        ["engine", "age at most a third", "carries again within 1 s", "worse by more than 10 %"],
        cells,
    )


def ratio(pair: Pair, name: str) -> float:
    """Give the guard's median by that of Linux alone."""
    alone, guarded = (typical(row, name) for row in pair)
    assert alone is not None
    assert guarded is not None
    return round(guarded / alone, 3)


def _worse(results: dict[str, Any]) -> Iterator[str]:
    cells = []
    again = {
        (row["way"], row["load"], row["beside"], row["what"]): row
        for row in json.loads(AGAIN.read_text())
    }
    for engine in ("simulation", "kernel"):
        for pair in pairs(results.get(engine, [])):
            for name in worse(pair):
                key = tuple(pair[1][part] for part in ("way", "load", "beside"))
                about = [engine, *key[:2], key[2] or "LTE"]
                low, high = interval(pair, name)
                ratios = [f"{ratio(pair, name):.2f}", f"{low:.2f} to {high:.2f}"]
                other = again.get((*key, name)) if engine == "simulation" else None
                anew = (
                    f"{other['ratio']:.2f}, {other['low']:.2f} to {other['high']:.2f}"
                    if other
                    else "–"
                )
                cells.append([*about, name.partition("_")[0], finished(*pair), *ratios, anew])
    heads = ["engine", "Wi-Fi", "load", "other paths", "what", "runs"]
    heads += ["guard / Linux alone", "95 % of resampled medians", "with 200 other seeds"]
    yield from table(heads, cells)


def interval(pair: Pair, name: str) -> tuple[float, float]:
    """Give between what 95 % of the ratios of medians lie if runs are drawn again from those that there are (percentile bootstrap)."""
    random = Random(1)
    alone, guarded = ([value for value in row[name] if value is not None] for row in pair)
    ratios = [
        median(random.choices(guarded, k=len(guarded)))
        / median(random.choices(alone, k=len(alone)))
        for _ in range(RESAMPLED)
    ]
    cuts = quantiles(ratios, n=40, method="inclusive")
    return cuts[0], cuts[-1]


def misses(pair: Pair) -> bool:
    """Say whether the age with the guard is more than a third of that with Linux alone."""
    return _ratio(pair) > THIRD


def _bounds(results: dict[str, Any]) -> Iterator[str]:
    notified = {
        (row["engine"], *identity(row)[:3]): row for row in json.loads(NOTIFIED.read_text())
    }
    cells = []
    for engine in ("simulation", "kernel"):
        for pair in filter(misses, aged(results.get(engine, []))):
            row = notified[(engine, *identity(pair[1])[:3])]
            alone, guarded, notified_ms = (typical(one, "age_ms") for one in (*pair, row))
            assert alone is not None
            assert notified_ms is not None
            least, third = min(row["age_ms"]), alone * THIRD
            about = [engine, row["way"], row["load"], row["beside"] or "LTE"]
            runs = f"{least}–{max(row['age_ms'])}, {shown(notified_ms)} in {len(row['age_ms'])}"
            verdict = "missed" if notified_ms <= third else "close" if least <= third else ""
            late = f"{median(left(pair[1])):.2f}"
            ages = [shown(age) for age in (alone, third, guarded)]
            cells.append([*about, *ages, late, runs, verdict or "out of reach"])
    heads = ["engine", "Wi-Fi", "load", "other paths", "Linux alone, ms", "a third", "guard, ms"]
    heads += ["left after s", "notified after 100 ms, ms", ""]
    yield from table(heads, cells)


def aged(rows: list[Row]) -> list[Pair]:
    """Give those in which a path dies without a word and messages have an age."""
    return [
        pair
        for pair in pairs(rows)
        if pair[0]["way"] in DEADLY and typical(pair[0], "age_ms") is not None
    ]


def _backups(results: dict[str, Any]) -> Iterator[str]:
    cells = []
    for engine in ("simulation", "kernel"):
        rows = results.get(engine, [])
        removed = {id(alone): guarded for alone, guarded in pairs(rows)}
        for alone, backed in pairs(rows, BACKUPS):
            all_three = (alone, removed[id(alone)], backed)
            ages, gaps = (
                " → ".join(shown(typical(row, name)) for row in all_three)
                for name in ("age_ms", "gap_ms")
            )
            runs = finished(*all_three)
            cells.append([engine, backed["way"], backed["load"], runs, ages, gaps])
    heads = ["engine", "Wi-Fi", "load", "runs", "age, ms: Linux → removed → backup"]
    yield from table([*heads, "gap, ms"], cells)


def _cost(cost: dict[str, Any]) -> str:
    windows = cost["core_percents"]
    return (
        f"With {cost['connections']} connections over two paths, all of which carry data, it takes {sum(windows) / len(windows):.2f} % of a core "
        f"(mean of {len(windows)} windows of 20 s, {min(windows):g} to {max(windows):g} %; load {cost['load']:g}) and {cost['memory_mb']:g} MB of memory "
        f"(Linux {cost['release']})."
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
    heads = [
        "Wi-Fi",
        "load",
        "other paths",
        "simulated, s",
        "Linux, s",
        "medians within 20 % or 50 ms",
    ]
    yield from table(heads, cells)


def _range(values: list[float]) -> str:
    return f"{min(values):.2f}–{max(values):.2f}"
