"""What is estimated from a sample, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeGuard

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """An estimate with its confidence interval."""

    #: None if the values give none.
    estimate: float | None
    #: Ends of the interval; None where there is none.
    low: float | None
    high: float | None
    #: Part of such intervals that is meant to hold what is estimated, 0.95 for 95 %.
    level: float
    #: Values, or pairs, that were used.
    n: int
    #: Values, or pairs, that were left out.
    missing: int
    method: str
    #: Why there is no interval; None where there is one.
    reason: str | None = None


def known(values: Iterable[float | None]) -> tuple[list[float], int]:
    """Give the values that are known, and how many are not."""
    given = list(values)
    found = [float(value) for value in given if is_known(value)]
    return found, len(given) - len(found)


def known_pairs(
    first: Sequence[float | None], second: Sequence[float | None]
) -> tuple[list[float], list[float], int]:
    """Give the pairs of which both values are known, and how many others there are."""
    if len(first) != len(second):
        raise ValueError(f"{len(first)} values cannot be paired with {len(second)}")
    pairs = [
        (float(one), float(other))
        for one, other in zip(first, second, strict=True)
        if is_known(one) and is_known(other)
    ]
    return [one for one, _ in pairs], [other for _, other in pairs], len(first) - len(pairs)


def is_known(value: float | None) -> TypeGuard[float]:
    """Say whether there is a value."""
    return value is not None and math.isfinite(value)
