"""``draw`` of a link: what differs from run to run, drawn once for each."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator, Mapping
from decimal import Context, Decimal
from typing import Any

from mptcplab.messages import nearest, quoted
from mptcplab.quantity import FLOAT
from mptcplab.scenario import described, element
from mptcplab.scenario.element import Element
from mptcplab.scenario.fault import KeyPath
from mptcplab.scenario.source import Source

# Names of parameters and how far they spread, by the name of what is drawn.
Draws = Mapping[str, dict[str, Any]]
Directions = dict[str, list[Element]]

OF, SPREAD = "of", "spread"
DIRECTIONS = ("uplink", "downlink")
MOST_SPREAD = 3
DIGITS = 4
# Logarithms and powers of Decimal are the same on every machine; those of floats are not.
EXACT = Context(prec=28)
BITS = 53


def check(draws: Any, directions: Directions, key_path: KeyPath, source: Source) -> None:
    """Refuse what cannot be drawn."""
    if not isinstance(draws, dict):
        raise source.fault(key_path, f"{quoted(draws)} is not a table of what is drawn")
    taken: set[str] = set()
    for name, one in draws.items():
        here = (*key_path, name)
        if not isinstance(one, dict):
            raise source.fault(here, "is not a table with of and spread")
        for key in one:
            if key not in (OF, SPREAD):
                raise source.unknown(
                    (*here, key), f"there is no such key; {nearest(key, (OF, SPREAD))}"
                )
        for key in (OF, SPREAD):
            if key not in one:
                raise source.fault(here, f"needs {key}")
        try:
            spread = FLOAT.parse(one[SPREAD])
        except ValueError as error:
            raise source.fault((*here, SPREAD), str(error)) from None
        if not 0 <= spread <= MOST_SPREAD:
            raise source.fault((*here, SPREAD), f"{spread} is outside 0 to {MOST_SPREAD}")
        _check_parameters(one[OF], directions, taken, (*here, OF), source)


def behind(draws: Draws | None, boxes: int) -> Draws | None:
    """Give the draws of a link with their indices behind elements put before its downlink."""
    if not draws or not boxes:
        return draws
    return {
        name: one | {OF: [_moved(key, boxes) for key in one[OF]]} for name, one in draws.items()
    }


def normal(seed: int, link: str, what: str) -> Decimal:
    """Draw what is drawn of a link in a run, in standard deviations (Marsaglia and Bray, 1964)."""
    name = f"{seed} {link}.draw.{what}"
    for number in range(1000):
        digest = hashlib.sha256(f"{name} {number}".encode()).digest()
        words = (int.from_bytes(digest[at : at + 8], "big") >> (64 - BITS) for at in (0, 8))
        u, v = (Decimal(word) / 2 ** (BITS - 1) - 1 for word in words)
        square = u * u + v * v
        if 0 < square < 1:
            return EXACT.multiply(u, EXACT.sqrt(-2 * EXACT.ln(square) / square))
    raise AssertionError("a point in the square misses the circle with probability 0.215")


def _moved(key: str, boxes: int) -> str:
    direction, number, *rest = key.split(".")
    return ".".join(
        (direction, str(int(number) + boxes if direction == "downlink" else number), *rest)
    )


def _check_parameters(
    keys: Any, directions: Directions, taken: set[str], key_path: KeyPath, source: Source
) -> None:
    if not (isinstance(keys, list) and keys and all(isinstance(key, str) for key in keys)):
        raise source.fault(
            key_path, f'{quoted(keys)} is not a list of parameters such as ["downlink.0.rate"]'
        )
    for key in keys:
        if key in taken:
            raise source.fault(key_path, f"{quoted(key)} is drawn twice")
        taken.add(key)
        holder, parameter, kind = _find(directions, key) or (None, "", "")
        if holder is None or kind not in described.KINDS or parameter not in holder:
            known = sorted(_all(directions))
            raise source.fault(
                key_path, f"{quoted(key)} is not a quantity here; {nearest(key, known)}"
            )
        if isinstance(holder[parameter], bool | str):
            raise source.fault(key_path, f"{quoted(key)} is not a quantity: it cannot be drawn")


def _find(directions: Directions, key: str) -> tuple[Element, str, str] | None:
    """Give the table that holds a parameter, its name there, and its kind."""
    direction, *steps = key.split(".")
    if direction not in directions or len(steps) < 2 or not steps[0].isdecimal():
        return None
    number = int(steps[0])
    if number >= len(directions[direction]) or "element" not in directions[direction][number]:
        return None
    holder, what = directions[direction][number], "element"
    if steps[1] == element.QUEUE and len(steps) == 3:
        holder, what = holder.get(element.QUEUE, {}), element.QUEUE
    elif len(steps) != 2:
        return None
    if what not in holder:
        return None
    kinds = described.kinds(element.known(what)[holder[what]])
    return holder, steps[-1], kinds.get(steps[-1], "")


def _all(directions: Directions) -> Iterator[str]:
    for direction, elements in directions.items():
        for number, one in enumerate(elements):
            for key, value in one.items():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    yield f"{direction}.{number}.{key}"
            for key, value in one.get(element.QUEUE, {}).items():
                if isinstance(value, int | float):
                    yield f"{direction}.{number}.{element.QUEUE}.{key}"


def apply(draws: Draws, directions: Directions, name: str, seed: int) -> Directions:
    """Give the elements of the link of that name in the run with that seed."""
    directions = copy.deepcopy(directions)
    for what, one in draws.items():
        factor = _factor(normal(seed, name, what), one[SPREAD])
        for key in one[OF]:
            found = _find(directions, key)
            assert found is not None  # noqa: S101 - check() has seen it
            holder, parameter, kind = found
            holder[parameter] = _scaled(holder[parameter], factor, kind)
    return directions


def _scaled(value: int | float, factor: Decimal, kind: str) -> int | float:
    exact = EXACT.multiply(Decimal(repr(value)), factor)
    rounded = Context(prec=DIGITS).plus(exact)
    if kind == "ratio":
        return min(1.0, float(rounded))
    return int(rounded) if isinstance(value, int) else float(rounded)


def _factor(x: Decimal, spread: float) -> Decimal:
    """Make it one of the lognormal distribution with mean 1 and that coefficient of variation."""
    square = EXACT.ln(1 + Decimal(repr(spread)) ** 2)
    return EXACT.exp(EXACT.sqrt(square) * x - square / 2)
