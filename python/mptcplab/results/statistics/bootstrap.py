"""Confidence intervals by the bootstrap: bias-corrected and accelerated (BCa).

Efron, "Better bootstrap confidence intervals", JASA 82, 1987; Efron and Tibshirani, "An
Introduction to the Bootstrap", 1993, chapter 14.
"""

from __future__ import annotations

import math
import warnings
from functools import partial

from mptcplab.results.statistics import large
from mptcplab.results.statistics.estimate import LEVEL, SEED, Estimate, known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    #: Takes samples and the axis along which each lies.
    Statistic = Callable[..., Any]
    #: Takes samples and the level, gives the ends.
    Theory = Callable[..., tuple[float, float]]

RESAMPLES = 9999
METHOD = f"BCa bootstrap, {RESAMPLES} resamples"
FEWEST = 3
# Numbers that are resampled at once: bounds memory.
AT_ONCE = 4_000_000


def interval(
    values: Iterable[float | None],
    statistic: str | float = "mean",
    *,
    level: float = LEVEL,
    seed: int = SEED,
) -> Estimate:
    """Estimate a figure of what values were drawn from, with its interval.

    Args:
        values: One per run; None and what is not finite is left out and counted.
        statistic: ``"mean"``, ``"sigma"`` (standard deviation, with n − 1), ``"median"``, or the
            quantile from 0 to 1.
        level: Of the interval.
        seed: Of the resampling.

    There is no interval of fewer than 3 values, of values that are all the same, or of a quantile
    of which the true value may well lie beyond all values. Means and medians of very many values
    have theirs from theory: see ``large``.
    """
    found, missing = known(values)
    quantile = {"median": 0.5}.get(statistic) if isinstance(statistic, str) else statistic
    function = _function(statistic)
    if len(found) < (2 if statistic == "sigma" else 1):
        return Estimate(None, None, None, level, len(found), missing, METHOD, _too_few(len(found)))
    needed = FEWEST if quantile is None else max(FEWEST, values_needed(quantile, level))
    return bootstrapped(
        (found,),
        function,
        missing=missing,
        needed=needed,
        level=level,
        seed=seed,
        theory={"mean": large.of_mean, "median": large.of_median}.get(str(statistic)),
    )


def values_needed(quantile: float, level: float) -> int:
    """Say how many values it takes for them to enclose a quantile with such a confidence.

    All n lie below a quantile q with probability qⁿ (David and Nagaraja, "Order Statistics", 2003,
    section 7.1), and no resampling goes beyond the values.
    """
    return math.ceil(math.log((1 - level) / 2) / math.log(max(quantile, 1 - quantile)))


def bootstrapped(
    samples: tuple[list[float], ...],
    statistic: Statistic,
    *,
    missing: int,
    needed: int = FEWEST,
    level: float,
    seed: int,
    theory: Theory | None = None,
) -> Estimate:
    """Estimate a statistic of samples of equal length, which are resampled together.

    ``theory`` gives the ends of many, where there is one.
    """
    import numpy as np

    n = len(samples[0])
    estimate = float(statistic(*(np.asarray(sample) for sample in samples), axis=-1))
    low = high = reason = None
    method = METHOD
    if not math.isfinite(estimate):
        return Estimate(
            None, None, None, level, n, missing, METHOD, "it is not defined: a division by 0"
        )
    if n < needed:
        reason = _too_few(n, needed)
    elif all(len(set(sample)) == 1 for sample in samples):
        reason = "all values are the same"
    elif theory is not None and n > large.MANY:
        low, high = theory(*samples, level)
        method = large.METHOD
    else:
        low, high = _ends(samples, statistic, level, seed)
        if low is None:
            reason = "the resamples give none"
    return Estimate(estimate, low, high, level, n, missing, method, reason)


def _ends(
    samples: tuple[list[float], ...], statistic: Statistic, level: float, seed: int
) -> tuple[float, float] | tuple[None, None]:
    import numpy as np
    from scipy import stats

    with warnings.catch_warnings():
        # Degenerate: the ends are not numbers, which is told instead.
        warnings.simplefilter("ignore")
        found = stats.bootstrap(
            samples,
            statistic,
            n_resamples=RESAMPLES,
            batch=max(1, AT_ONCE // len(samples[0])),
            vectorized=True,
            paired=len(samples) > 1,
            confidence_level=level,
            method="BCa",
            rng=np.random.default_rng(seed),
        ).confidence_interval
    if not (math.isfinite(found.low) and math.isfinite(found.high)):
        return None, None
    return float(found.low), float(found.high)


def _function(statistic: str | float) -> Statistic:
    import numpy as np

    if isinstance(statistic, str):
        named: dict[str, Statistic] = {
            "mean": np.mean,
            "median": np.median,
            "sigma": partial(np.std, ddof=1),
        }
        if statistic not in named:
            raise ValueError(f"there is no statistic {statistic!r}; there are {', '.join(named)}")
        return named[statistic]
    if not 0 < statistic < 1:
        raise ValueError(f"a quantile lies between 0 and 1, not at {statistic}")
    return partial(np.quantile, q=statistic)


def _too_few(n: int, needed: int = FEWEST) -> str:
    return f"n = {n}; it takes {needed}"
