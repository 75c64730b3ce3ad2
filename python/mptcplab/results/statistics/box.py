"""Boxes: a sample by its quartiles, whiskers, and what lies beyond."""

from __future__ import annotations

from dataclasses import dataclass

from mptcplab.results.statistics.estimate import known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# Tukey, "Exploratory Data Analysis", 1977, section 2C.
REACH = 1.5


@dataclass(frozen=True)
class Box:
    """Where the middle half of values lies, and how far the others reach."""

    n: int
    missing: int
    #: The quartiles interpolate between values, as ``describe`` does.
    lower_quartile: float
    median: float
    upper_quartile: float
    #: The outermost values within 1.5 times the quartiles' distance from the box.
    low: float
    high: float
    #: Values beyond.
    outliers: tuple[float, ...]


def box(values: Iterable[float | None]) -> Box | None:
    """Give the box of values of independent runs, one per run; None if none is known."""
    import numpy as np

    found, missing = known(values)
    if not found:
        return None
    lower, median, upper = (float(one) for one in np.quantile(found, (0.25, 0.5, 0.75)))
    reach = REACH * (upper - lower)
    # A value may lie within reach of one quartile by interpolation only: the box is the least.
    within = [one for one in found if lower - reach <= one <= upper + reach]
    return Box(
        n=len(found),
        missing=missing,
        lower_quartile=lower,
        median=median,
        upper_quartile=upper,
        low=min(lower, *within),
        high=max(upper, *within),
        outliers=tuple(sorted(one for one in found if not lower - reach <= one <= upper + reach)),
    )
