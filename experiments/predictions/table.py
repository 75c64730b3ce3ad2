"""Draws the tables of the documentation from ``results.json``."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, variance
from typing import Any

from scipy import stats

from experiments.markdown import table
from experiments.predictions.run import HOSTS, NETWORKS, PAIRS

RESULTS = Path(__file__).parent / "results.json"
LEVEL = 0.9
# Pairs of whose MPTCP a mean was known beforehand.
PUBLISHED = (("vz", "mob"), ("att", "mob"))
# How often chance alone may call a prediction wrong.
CHANCE = 0.05
# Seeds without which there is no interval.
LEAST = 2
# Those with which intervals of single parts can be relied on.
ENOUGH = 5
LABELS = {"tm": "T-Mobile", "vz": "Verizon", "att": "AT&T", "rm": "Roam", "mob": "Mobility"}

# By part of the drive and seed.
Values = dict[tuple[int, int], float]
# A mean, and the ends around it.
Interval = tuple[float, float, float]


@dataclass(frozen=True)
class Variance:
    """A variance, and on how many degrees of freedom it rests."""

    value: float
    freedom: int

    def times(self, factor: float) -> Variance:
        """Give a multiple of it."""
        return Variance(factor * self.value, self.freedom)


def markdown(part: str) -> str:
    """Give a part, by a name of ``PARTS``."""
    rows = json.loads(RESULTS.read_text())["rows"]
    return "\n".join(PARTS[part](rows)) + "\n"


def _alone(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Plain TCP over each network."""
    heads = ("network", "buffers", *(f"{part} s" for part in _known_parts(rows)))
    cells = []
    for name in NETWORKS:
        for host in HOSTS:
            if found := _values(rows, host, (name,)):
                by_part = [fmean(one) for one in _by_part(found).values()]
                cells.append([LABELS[name], host, *(f"{one:.0f}" for one in by_part)])
    yield from table(heads, cells)


def _drive(rows: list[dict[str, Any]]) -> Iterator[str]:
    """What another part of such a drive would have."""
    heads = (
        "buffers",
        "pair",
        "better alone",
        "both",
        "MPTCP",
        "over the better",
        "share of the first",
    )
    yield from table(heads, _cells(rows, lambda values: [("", _of_another_part(values))]))


def _parts(rows: list[dict[str, Any]]) -> Iterator[str]:
    """What each part of this drive has."""
    heads = ("buffers", "pair", "from", "better alone", "both", "MPTCP", "over the better")
    yield from table((*heads, "share of the first"), _cells(rows, _of_each_part, are_parts=True))


def _falsified(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Say what outcome would be too unlikely: by chance alone in 1 of 20 cases at most."""
    draws = len({row["seed"] for row in rows})
    tables = {
        "second": _cells(rows, lambda values: [("", _of_another_part(values))]),
        "third": _cells(rows, _of_each_part, are_parts=True),
    }
    for name, cells in tables.items():
        count = len(list(cells))
        most = next(most for most in range(count + 1) if _at_most(most, count) >= 1 - CHANCE)
        yield (
            f"- Of the {count} intervals of gains in the {name} table at most {most} may fail, if they hold 90 %; "
            "more is chance in less than 1 of 20 cases. So it is with shares."
        )
    yield (
        "- These counts take intervals as independent. Those of pairs that share a network or a part are not: they fail together, "
        "and more often all at once than the counts say."
    )
    if draws < ENOUGH:
        yield (
            f"- The third table rests on {draws} draws of what was assumed, which may lie close to each other by chance: "
            f"its intervals are no test before there are {ENOUGH}."
        )
    for host in HOSTS:
        pairs = {pair: _gain(rows, host, pair) for pair in PAIRS}
        for says, sign in (("more", 1), ("less", -1)):
            named = [
                _named(pair)
                for pair, gain in pairs.items()
                if gain and min(sign * gain[1], sign * gain[2]) > 0
            ]
            if named:
                yield (
                    f"- With buffers of {host} MPTCP has {says} than plain TCP over the better network in 19 of 20 "
                    f"half-minutes over {', '.join(named)}."
                )


def _cells(
    rows: list[dict[str, Any]], intervals: Callable[[Values], Any], *, are_parts: bool = False
) -> Iterator[list[str]]:
    for host in HOSTS:
        for pair in PAIRS:
            mptcp = _values(rows, host, pair)
            alone = [_values(rows, host, (name,)) for name in pair]
            keys = [key for key in mptcp if all(key in one for one in alone)]
            if len({seed for _, seed in keys}) < LEAST:
                continue
            better = {key: max(one[key] for one in alone) for key in keys}
            both = {key: sum(one[key] for one in alone) for key in keys}
            shares = {
                (row["part_s"], row["seed"]): row["shares"].get(pair[0], 0.0)
                for row in rows
                if row["host"] == host and row["over"] == list(pair)
            }
            rate = intervals({key: math.log(mptcp[key]) for key in keys})
            gain = intervals({key: math.log(mptcp[key] / better[key]) for key in keys})
            share = intervals({key: shares[key] for key in keys})
            for (part, one), (_, over), (_, of_first) in zip(rate, gain, share, strict=True):
                there = [key for key in keys if part in ("", key[0])]
                cells = [host, _named(pair)]
                cells += [f"{part} s"] if are_parts else []
                yield [
                    *cells,
                    f"{fmean(better[key] for key in there):.0f}",
                    f"{fmean(both[key] for key in there):.0f}",
                    _range(map(math.exp, one), "{:.0f}"),
                    _range((100 * math.expm1(end) for end in over), "{:+.0f} %"),
                    _range((100 * min(max(end, 0), 1) for end in of_first), "{:.0f} %"),
                ]


def _gain(rows: list[dict[str, Any]], host: str, pair: tuple[str, str]) -> Interval | None:
    """Give the logarithm of the gain over the better network in another part; none where there are too few runs."""
    mptcp = _values(rows, host, pair)
    alone = [_values(rows, host, (name,)) for name in pair]
    if len({seed for _, seed in mptcp}) < LEAST:
        return None
    gains = {key: math.log(one / max(two[key] for two in alone)) for key, one in mptcp.items()}
    return _of_another_part(gains)


def _named(pair: tuple[str, ...]) -> str:
    star = r"\*" if pair in PUBLISHED else ""
    return " + ".join(LABELS[name] for name in pair) + star


def _of_another_part(values: Values) -> Interval:
    """Give the mean and the interval of another draw in another part.

    Parts differ, draws do, which all parts have in common, and what remains.
    """
    of_part, of_draw, rest = _varied(values)
    parts, draws = of_part.freedom + 1, of_draw.freedom + 1
    # What remains is in the variances of the means already.
    counted = 1 / parts + 1 / draws + 1 / (parts * draws)
    components = (
        of_part.times(1 + 1 / parts),
        of_draw.times(1 + 1 / draws),
        rest.times(max(1 - counted, 0)),
    )
    return _around(fmean(values.values()), components)


def _of_each_part(values: Values) -> Iterator[tuple[int, Interval]]:
    """Give the mean and the interval of another draw in each part; draws spread alike in all."""
    of_part, of_draw, rest = _varied(values)
    parts, draws = of_part.freedom + 1, of_draw.freedom + 1
    further = 1 + 1 / draws
    components = (of_draw.times(further), rest.times(further * (1 - 1 / parts)))
    for part, one in _by_part(values).items():
        yield part, _around(fmean(one), components)


def _varied(values: Values) -> tuple[Variance, Variance, Variance]:
    """Give the variance of the means of parts, of those of draws, and of what remains."""
    parts, draws = ({key[which] for key in values} for which in (0, 1))
    whole = fmean(values.values())
    part_means = {one: fmean(values[one, draw] for draw in draws) for one in parts}
    draw_means = {one: fmean(values[part, one] for part in parts) for one in draws}
    rest = math.fsum(
        (value - part_means[part] - draw_means[draw] + whole) ** 2
        for (part, draw), value in values.items()
    )
    freedom = (len(parts) - 1) * (len(draws) - 1)
    return (
        Variance(variance(part_means.values()), len(parts) - 1),
        Variance(variance(draw_means.values()), len(draws) - 1),
        Variance(rest / freedom, freedom),
    )


def _around(mean: float, components: Iterable[Variance]) -> Interval:
    """Give an interval by the sum of variances (Satterthwaite, Biometrics Bulletin 2, 1946)."""
    known = [one for one in components if one.value > 0]
    whole = math.fsum(one.value for one in known)
    if not whole:
        return mean, mean, mean
    freedom = whole**2 / math.fsum(one.value**2 / one.freedom for one in known)
    reach = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * math.sqrt(whole)
    return mean, mean - reach, mean + reach


def _at_most(most: int, count: int) -> float:
    """Give the probability that so many of all intervals fail at most, if each holds what it says."""
    miss = 1 - LEVEL
    return math.fsum(
        math.comb(count, one) * miss**one * LEVEL ** (count - one) for one in range(most + 1)
    )


def _range(ends: Iterable[float], form: str) -> str:
    mean, low, high = (form.format(end).replace("-", "−") for end in ends)
    return f"{mean} ({low} to {high})"


def _values(rows: list[dict[str, Any]], host: str, over: tuple[str, ...]) -> Values:
    return {
        (row["part_s"], row["seed"]): row["mbps"]
        for row in rows
        if row["host"] == host and row["over"] == list(over)
    }


def _by_part(values: Values) -> dict[int, list[float]]:
    groups: dict[int, list[float]] = defaultdict(list)
    for (part, _), value in sorted(values.items()):
        groups[part].append(value)
    return groups


def _known_parts(rows: list[dict[str, Any]]) -> list[int]:
    return sorted({row["part_s"] for row in rows})


PARTS = {"alone": _alone, "drive": _drive, "parts": _parts, "falsified": _falsified}
