"""Complementary distribution functions over runs, with bands."""

from __future__ import annotations

from dataclasses import dataclass

from mptcplab.results.statistics.estimate import LEVEL, SEED, known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

RESAMPLES = 1999
METHOD = f"percentile bootstrap of whole runs, {RESAMPLES} resamples, at each point by itself"
FEWEST = 3
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


def ccdf(runs: Iterable[Iterable[float | None]], *, level: float = LEVEL, seed: int = SEED) -> Ccdf:
    """Pool the samples of runs; runs are what the band resamples.

    Samples within a run depend on each other (a queue that is full stays full for a while), runs do
    not: so the band is by runs (Davison and Hinkley, "Bootstrap Methods and their Application",
    1997, section 3.8). The values are up to 400 of those that occur, those of the upper tail
    all among them.
    """
    import numpy as np

    found = [np.sort(known(run)[0]) for run in runs]
    some = [run for run in found if len(run)]
    values = _places(np.concatenate(some)) if some else np.empty(0)
    at_or_above = [len(run) - np.searchsorted(run, values, side="left") for run in some]
    return _pooled(values, at_or_above, [len(run) for run in some], len(found), level, seed)


def ccdf_of_bins(
    runs: Iterable[Iterable[tuple[float, float, int]]], *, level: float = LEVEL, seed: int = SEED
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
    return _pooled(values, at_or_above, totals, len(found), level, seed)


def _places(samples: Array) -> Array:
    """Choose values that are even in the logarithm of the part above them."""
    import numpy as np

    ordered = np.sort(samples)
    if len(ordered) > POINTS:
        above = np.unique(np.geomspace(1, len(ordered), POINTS).astype(int))
        ordered = ordered[len(ordered) - above]
    return np.unique(ordered)


def _pooled(
    values: Array, at_or_above: list[Any], totals: list[int], runs: int, level: float, seed: int
) -> Ccdf:
    import numpy as np

    n = len(totals)
    low: Any = ()
    high: Any = ()
    counts = np.array(at_or_above, dtype=float).reshape(n, len(values))
    if n >= FEWEST:
        chosen = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
        resampled = (chosen @ counts) / (chosen @ np.array(totals, dtype=float))[:, np.newaxis]
        low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2], axis=0)
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
