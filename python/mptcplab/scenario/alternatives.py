"""``alternatives`` of a link: what else it may be, of which one is drawn for each run."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any

from mptcplab.messages import nearest
from mptcplab.quantity import FLOAT
from mptcplab.scenario import draw, element
from mptcplab.scenario.element import Element
from mptcplab.scenario.fault import KeyPath
from mptcplab.scenario.source import Source

WEIGHT, DRAW = "weight", "draw"
NEEDED = (WEIGHT, *draw.DIRECTIONS)
KEYS = (*NEEDED, DRAW)
NAME = "alternatives"

ReadElements = Callable[[Any, KeyPath, Source], list[Element]]


def read(value: list[Any], elements: ReadElements, key_path: KeyPath, source: Source) -> list[Any]:
    """Read what else a link may be."""
    found = [_read(one, elements, (*key_path, number), source) for number, one in enumerate(value)]
    if (total := math.fsum(one[WEIGHT] for one in found)) >= 1:
        what = f"their weights are {total:g} together, which leaves nothing for the link's own"
        raise source.fault(key_path, what)
    return found


def drawn(
    link: dict[str, Any], alternatives: list[dict[str, Any]], name: str, seed: int
) -> dict[str, Any]:
    """Give the elements, and what is drawn of them, that the link of that name has in a run."""
    digest = hashlib.sha256(f"{seed} {name}.{NAME}".encode()).digest()
    left = int.from_bytes(digest[:8], "big") / 2**64
    for one in alternatives:
        left -= one[WEIGHT]
        if left < 0:
            return one
    return link


def _read(value: Any, elements: ReadElements, key_path: KeyPath, source: Source) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise source.fault(key_path, "is not a table with weight, uplink and downlink")
    for key in value:
        if key not in KEYS:
            what = f"there is no such key; {nearest(key, KEYS)}"
            raise source.unknown((*key_path, key), what)
    for key in NEEDED:
        if key not in value:
            raise source.fault(key_path, f"needs {key}")
    for name in draw.DIRECTIONS:
        if not isinstance(value[name], list):
            raise source.fault((*key_path, name), "is not a list of elements")
    try:
        weight = FLOAT.parse(value[WEIGHT])
    except ValueError as error:
        raise source.fault((*key_path, WEIGHT), str(error)) from None
    if not 0 < weight < 1:
        raise source.fault((*key_path, WEIGHT), f"{weight} is not above 0 and below 1")
    directions = {
        name: elements(value[name], (*key_path, name), source) for name in draw.DIRECTIONS
    }
    element.check_shared(directions, key_path, source)
    draws = value.get(DRAW)
    if draws is not None:
        draw.check(draws, directions, (*key_path, DRAW), source)
    return {WEIGHT: weight, **directions} | ({DRAW: draws} if draws else {})
