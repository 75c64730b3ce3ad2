"""Draws the tables of the documentation from the figures of both engines."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

from experiments.engines.case import MESSAGE, RESPONSE, Case
from experiments.engines.cases import CASES
from experiments.markdown import table
from mptcplab.results.statistics import interval, quotient_of_independent

HERE = Path(__file__).parent
ENGINES = ("simulation", "kernel")
LEVEL = 0.9
FAMILIES = {
    "one path": "Plain TCP over one path",
    "several paths": "MPTCP over several paths",
    "buffers": "Receive and send buffers",
    "short": "Short transfers, and responses after pauses",
    "failures": "Paths that fail, return and move",
    "radio": "What radios do",
    "links": "Other queues, links and settings",
    "sharing": "Neighbours at the bottleneck",
    "converters": "Converters at the ends of the paths",
    "shipped": "Shipped scenarios",
    "controllers": "Controllers that mptcplab loads into the kernel",
}
TITLES = {RESPONSE: "response ms", MESSAGE: "message delay ms"}
# Times that are nearer than this are one: emulated links bundle packets by up to 0.5 ms, and hosts look when they have time.
FLOOR_MS = 1.0


# A difference may be chance if means differ as much at least so often where runs are exchanged between the engines.
RARE = 0.05
EXCHANGES = 9999


@dataclass(frozen=True)
class Column:
    """A figure that is compared."""

    key: str
    title: str
    # How far the engines may be apart: a factor, or a difference.
    factor: float | None = None
    difference: float = 0.0

    def off(self, ours: float, theirs: float) -> bool:
        """Whether two means are farther apart than the band."""
        if self.factor is None:
            return abs(ours - theirs) > self.difference
        if abs(ours - theirs) <= self.difference:
            return False
        return not 1 / self.factor <= (ours / theirs if theirs else self.factor + 1) <= self.factor


def columns(case: Case) -> list[Column]:
    """Name what is compared of a case."""
    title = TITLES.get(case.measure, "Mbit/s")
    speed = Column(case.measure, title, 1 + case.band)
    share = [Column("share_percent", "share %", difference=5.0)] if case.is_multipath else []
    return [
        speed,
        Column("rtt_ms_mean", "RTT ms", 1.15, FLOOR_MS),
        *share,
        Column("longest_gap_ms", "longest gap ms", 1.5, FLOOR_MS),
        Column("out_of_order_delay_ms_mean", "out-of-order delay ms", 1.5, FLOOR_MS),
    ]


@dataclass(frozen=True)
class Cell:
    """One figure of one case by both engines."""

    column: Column
    ours: list[float]
    theirs: list[float]

    @property
    def is_known(self) -> bool:
        """Whether both engines gave it."""
        return bool(self.ours and self.theirs)

    @property
    def is_off(self) -> bool:
        """Whether the means are farther apart than the band."""
        return self.is_known and self.column.off(fmean(self.ours), fmean(self.theirs))

    @property
    def is_open(self) -> bool:
        """Whether chance could as well have it on the other side of its band's edge."""
        if not self.is_known:
            return False
        ends = extremes(self.ours, self.theirs)
        if ends is None:
            return True
        if not self.is_off:
            return any(self.column.off(*end) for end in ends)
        # One end within the band, or the band between both.
        is_above = [ours > theirs for ours, theirs in ends]
        return not all(self.column.off(*end) for end in ends) or is_above[0] != is_above[-1]

    @cached_property
    def chance(self) -> float:
        """How often the means are as far apart where runs are exchanged between the engines at random."""
        import numpy as np

        both = np.array([*self.ours, *self.theirs])
        parted = abs(fmean(self.ours) - fmean(self.theirs))
        draws = np.random.default_rng(1).permuted(np.tile(both, (EXCHANGES, 1)), axis=1)
        ours, theirs = np.split(draws, [len(self.ours)], axis=1)
        # What is as far apart but for rounding is.
        as_far = np.abs(ours.mean(axis=1) - theirs.mean(axis=1)) >= parted * (1 - 1e-9)
        return (int(as_far.sum()) + 1) / (EXCHANGES + 1)

    @property
    def is_chance(self) -> bool:
        """Whether chance may have put it outside: neither the band is ruled out, nor that both engines have the same mean."""
        return self.is_open and self.chance >= RARE

    def chance_shown(self) -> str:
        """Write how far chance goes."""
        ends = extremes(self.ours, self.theirs) or []
        reach = " to ".join(_short(ours / theirs) for ours, theirs in ends)
        return (
            f"may be chance: if runs are exchanged between the engines at random, means differ as much in {100 * self.chance:.0f} % of the cases "
            f"({len(self.ours)} and {len(self.theirs)} runs)"
            + (f"; the ratio is {reach}" if reach else "")
        )

    def shown(self) -> str:
        """Write it: simulation, kernel, and whether it is out of its band or open."""
        if not self.is_known:
            return ""
        text = f"{_short(fmean(self.ours))} · {_short(fmean(self.theirs))}"
        text = f"**{text}**" if self.is_off else text
        return f"{text} ?" if self.is_open else text


def extremes(ours: list[float], theirs: list[float]) -> list[tuple[float, float]] | None:
    """Give the pairs of means at the ends of the 90 % interval of their ratio; None: it has no ends.

    By Fieller's theorem with Welch's degrees of freedom; of the kernel's mean alone where ours are all 0. Values that
    are all the same leave nothing open.
    """
    theirs_mean = fmean(theirs)
    if not any(ours) and any(theirs):
        mean = interval(theirs, level=LEVEL)
        return (
            None if mean.low is None or mean.high is None else [(0.0, mean.low), (0.0, mean.high)]
        )
    ratio = quotient_of_independent(ours, theirs, level=LEVEL)
    if ratio.low is None or ratio.high is None:
        same = len(set(ours)) == len(set(theirs)) == 1
        return [(fmean(ours), theirs_mean)] if same else None
    return [(end * theirs_mean, theirs_mean) for end in (ratio.low, ratio.high)]


def cells(case: Case, results: dict[str, dict[str, Any]]) -> list[Cell]:
    """Give the figures of a case."""
    return [
        Cell(column, *(_values(results[engine], case.name, column.key) for engine in ENGINES))
        for column in columns(case)
    ]


def markdown() -> str:
    """Give the count, a table per family, and what is outside with its cause."""
    results = {engine: read(engine) for engine in ENGINES}
    rows = [(case, cells(case, results)) for case in CASES]
    rows = [(case, row) for case, row in rows if row[0].is_known]
    outside = [(case, row) for case, row in rows if any(cell.is_off for cell in row)]
    parts = [
        f"{len(rows) - len(outside)} of {len(rows)} scenarios are within all their bands, "
        f"{sum(not row[0].is_off for _, row in rows)} within that of speed.\n"
    ]
    for family, title in FAMILIES.items():
        own = [(case, row) for case, row in rows if case.family == family]
        if own:
            parts.append(_table(title, own))
    parts.append(_outside(outside))
    return "\n".join(parts)


def _table(title: str, rows: list[tuple[Case, list[Cell]]]) -> str:
    titles = ["speed", "RTT ms", "share %", "longest gap ms", "out-of-order delay ms"]
    lines = []
    for case, row in rows:
        shown = [cell.shown() for cell in row]
        if not case.is_multipath:
            shown.insert(2, "")
        unit = row[0].column.title.rpartition(" ")[2]
        ratio = fmean(row[0].ours) / fmean(row[0].theirs)
        shown[0] += f" {unit}"
        lines.append([case.name, *shown, f"{ratio:.3f}"])
    heads = ["scenario", *titles, "simulation / kernel"]
    return "\n".join([f"### {title}\n", *table(heads, lines)]) + "\n"


def _outside(rows: list[tuple[Case, list[Cell]]]) -> str:
    lines = []
    for case, row in rows:
        off = [cell for cell in row if cell.is_off]
        if case.cause:
            causes = [(case.cause, off)]
        else:
            causes = [(cell.chance_shown(), [cell]) for cell in off if cell.is_chance]
            causes.append(("not explained", [cell for cell in off if not cell.is_chance]))
        lines += [[case.name, _titles(cells), cause] for cause, cells in causes if cells]
    heads = ("scenario", "what", "cause")
    return "\n".join(["### Outside their bands\n", *table(heads, lines)]) + "\n"


def _titles(cells: list[Cell]) -> str:
    return ", ".join(cell.column.title.removesuffix(" ms") for cell in cells)


def read(engine: str) -> dict[str, Any]:
    """Read the figures of an engine by case."""
    file = HERE / f"{engine}.json"
    found: dict[str, Any] = json.loads(file.read_text())["cases"] if file.exists() else {}
    return found


def _values(results: dict[str, Any], case: str, key: str) -> list[float]:
    values = [run[key] for run in results.get(case, [])]
    return [value for value in values if value is not None]


def _short(value: float) -> str:
    return re.sub(r"\.$", "", f"{value:#.3g}") if abs(value) < 1000 else f"{value:.0f}"
