"""Samples as boxes, and distributions over runs with bands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mptcplab.results.statistics.intervals import FEWEST, LEVEL, known, student

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

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


METHOD = "Student's t of whole runs, of log odds, at each point by itself"
POINTS = 400


@dataclass(frozen=True)
class Ccdf:
    """The part of all samples at or above each value."""

    #: Runs with samples, and without.
    n: int
    missing: int
    samples: int
    value: tuple[float, ...]
    probability: tuple[float, ...]
    #: The band; empty where there is none.
    low: tuple[float, ...]
    high: tuple[float, ...]
    level: float
    method: str
    #: Why there is no band; None where there is one.
    reason: str | None


def ccdf(runs: Iterable[Iterable[float | None]], *, level: float = LEVEL) -> Ccdf:
    """Pool the samples of runs; the band is by how much whole runs differ.

    Samples within a run depend on each other (a queue that is full stays full for a while), runs do
    not. The values are up to 400 of those that occur, those of the upper tail all among them.
    """
    import numpy as np

    found = [np.sort(known(run)[0]) for run in runs]
    some = [run for run in found if len(run)]
    values = _points(np.concatenate(some)) if some else np.empty(0)
    at_or_above = [len(run) - np.searchsorted(run, values, side="left") for run in some]
    return _pooled(values, at_or_above, [len(run) for run in some], len(found), level)


def ccdf_of_bins(
    runs: Iterable[Iterable[tuple[float, float, int]]], *, level: float = LEVEL
) -> Ccdf:
    """Do the same from histograms, such as the table ``distributions`` has.

    Each run has bins ``(from, to, count)``; bins of several runs may differ, but none may cut
    another. The values are the bins' lower ends.
    """
    import numpy as np

    found = [sorted(one for one in run if one[2]) for run in runs]
    some = [run for run in found if run]
    values = np.unique([start for run in some for start, _, _ in run])
    at_or_above, totals = [], []
    for run in some:
        counts = np.array([count for _, _, count in run])
        below = np.concatenate([[0], np.cumsum(counts)])
        starts = np.array([start for start, _, _ in run])
        totals.append(int(below[-1]))
        at_or_above.append(below[-1] - below[np.searchsorted(starts, values, side="left")])
    return _pooled(values, at_or_above, totals, len(found), level)


def _points(samples: Array) -> Array:
    """Choose values that are even in the logarithm of the part above them."""
    import numpy as np

    ordered = np.sort(samples)
    if len(ordered) > POINTS:
        above = np.unique(np.geomspace(1, len(ordered), POINTS).astype(int))
        ordered = ordered[len(ordered) - above]
    return np.unique(ordered)


def _pooled(
    values: Array, at_or_above: list[Any], totals: list[int], runs: int, level: float
) -> Ccdf:
    import numpy as np

    n = len(totals)
    low: Any = ()
    high: Any = ()
    counts = np.array(at_or_above, dtype=float).reshape(n, len(values))
    if n >= FEWEST:
        low, high = _band(counts, np.array(totals, dtype=float), level)
    return Ccdf(
        n=n,
        missing=runs - n,
        samples=sum(totals),
        value=tuple(map(float, values)),
        probability=tuple(map(float, counts.sum(axis=0) / sum(totals))) if n else (),
        low=tuple(map(float, low)),
        high=tuple(map(float, high)),
        level=level,
        method=METHOD,
        reason=None if n >= FEWEST else f"n = {n} runs; it takes {FEWEST}",
    )


def _band(counts: Array, totals: Array, level: float) -> tuple[Array, Array]:
    """Give the ends at each value.

    The part above is a ratio of two totals over runs, the samples above and all samples: its
    standard error is that of the residuals (Cochran, "Sampling Techniques", 1977, eq. 6.13). The
    interval is of its log odds, which keeps it between 0 and 1 and is skewed as small parts are.
    """
    import numpy as np
    from scipy import special

    n = len(totals)
    part = counts.sum(axis=0) / totals.sum()
    residuals = counts - totals[:, np.newaxis] * part
    error = np.sqrt((residuals**2).sum(axis=0) / (n - 1) / n) / totals.mean()
    spread = part * (1 - part)
    known = spread > 0
    reach = np.divide(student(n - 1, level) * error, spread, out=np.zeros_like(part), where=known)
    odds = special.logit(part)
    low, high = special.expit(odds - reach), special.expit(odds + reach)
    return np.where(known, np.minimum(low, part), part), np.where(
        known, np.maximum(high, part), part
    )
