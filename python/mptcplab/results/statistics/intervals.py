"""What is estimated of a sample, with confidence intervals over independent runs, few or many.

Of a mean by Student's t, of a ratio of means by Fieller's theorem, of a quantile by order
statistics: each holds what it promises from the smallest number of runs that has one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

Ends = tuple[float, float]

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


# Of two the interval of normal values is 13 times their deviation, and says nothing.
FEWEST = 3
STUDENT = "Student's t"
FIELLER = "Fieller's theorem with Student's t"
ORDER = "order statistics"
#: Where there is no interval: what all runs gave, and what no interval holds.
SAME = "all values are the same"
UNBOUNDED = "what it is divided by cannot be distinguished from 0"
UNDEFINED = "it is not defined: a division by 0"
OF_SIGMA = "what holds a standard deviation depends on the distribution, which is not known"


def interval(
    values: Iterable[float | None], statistic: str | float = "mean", *, level: float = LEVEL
) -> Estimate:
    """Estimate a figure of what values were drawn from, with its interval.

    Args:
        values: One per run; None and what is not finite is left out and counted.
        statistic: ``"mean"``, ``"sigma"`` (standard deviation, with n − 1), ``"median"``, or the
            quantile from 0 to 1.
        level: Of the interval.

    There is no interval of fewer than 3 values, of values that are all the same, of a quantile of
    which the true value may well lie beyond all values, or of a standard deviation.
    """
    found, missing = known(values)
    if statistic == "mean":
        return _of_mean(found, missing, level)
    if statistic == "sigma":
        return _of_sigma(found, missing, level)
    return _of_quantile(found, missing, _quantile(statistic), level)


def quotient(
    first: Sequence[float], second: Sequence[float], *, missing: int = 0, level: float = LEVEL
) -> Estimate:
    """Estimate the ratio of the means of pairs.

    Fieller, "Some problems in interval estimation", JRSS B 16, 1954: those ratios ρ for which the
    mean of first − ρ second is not distinguished from 0 by Student's t.
    """
    import numpy as np

    n = len(first)
    if not n or not np.mean(second):
        reason = UNDEFINED if n else "there are no pairs"
        return Estimate(None, None, None, level, n, missing, FIELLER, reason)
    ratio = float(np.mean(first) / np.mean(second))
    if n < FEWEST:
        return Estimate(ratio, None, None, level, n, missing, FIELLER, too_few(n))
    if len(set(first)) == len(set(second)) == 1:
        return Estimate(ratio, None, None, level, n, missing, FIELLER, SAME)
    residual = np.asarray(first) - ratio * np.asarray(second)
    covariance = np.cov(residual, np.asarray(second)) / n
    ends = _around(ratio, covariance, float(np.mean(second)), n - 1, level)
    return _with(ends, UNBOUNDED, ratio, level, n, missing, FIELLER)


def quotient_of_independent(
    first: Sequence[float], second: Sequence[float], *, level: float = LEVEL
) -> Estimate:
    """Estimate the ratio of the means of two samples that have nothing to do with each other.

    Fieller's theorem as above, with Welch's degrees of freedom ("The generalization of Student's
    problem", Biometrika 34, 1947).
    """
    import numpy as np

    n = min(len(first), len(second))
    if not n or not np.mean(second):
        return Estimate(None, None, None, level, n, 0, FIELLER, UNDEFINED)
    ratio = float(np.mean(first) / np.mean(second))
    if n < FEWEST:
        return Estimate(ratio, None, None, level, n, 0, FIELLER, too_few(n))
    own, other = (float(np.var(one, ddof=1)) / len(one) for one in (first, second))
    part = ratio * ratio * other
    # No interval either where all of the first are 0, whatever they are divided by.
    if not own + part:
        return Estimate(ratio, None, None, level, n, 0, FIELLER, SAME)
    freedom = (own + part) ** 2 / (own**2 / (len(first) - 1) + part**2 / (len(second) - 1))
    covariance = np.array([[own + part, -ratio * other], [-ratio * other, other]])
    ends = _around(ratio, covariance, float(np.mean(second)), freedom, level)
    return _with(ends, UNBOUNDED, ratio, level, n, 0, FIELLER)


def values_needed(quantile: float, level: float) -> int:
    """Say how many values it takes for them to enclose a quantile with such a confidence.

    All n lie below a quantile q with probability qⁿ (David and Nagaraja, "Order Statistics", 2003,
    section 7.1).
    """
    return math.ceil(math.log((1 - level) / 2) / math.log(max(quantile, 1 - quantile)))


def student(freedom: float, level: float) -> float:
    """Give how many standard errors an interval reaches to either side."""
    from scipy import special

    return float(special.stdtrit(freedom, (1 + level) / 2))


def too_few(n: int, needed: int = FEWEST) -> str:
    """Say that there are too few values."""
    return f"n = {n}; it takes {needed}"


def _of_mean(values: list[float], missing: int, level: float) -> Estimate:
    import numpy as np

    n = len(values)
    mean = float(np.mean(values)) if values else None
    if mean is None or n < FEWEST:
        return Estimate(mean, None, None, level, n, missing, STUDENT, too_few(n))
    if len(set(values)) == 1:
        return Estimate(mean, None, None, level, n, missing, STUDENT, SAME)
    reach = student(n - 1, level) * float(np.std(values, ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - reach, mean + reach, level, n, missing, STUDENT)


def _of_sigma(values: list[float], missing: int, level: float) -> Estimate:
    import numpy as np

    n = len(values)
    if n < 2:
        return Estimate(None, None, None, level, n, missing, "none", too_few(n, 2))
    sigma = float(np.std(values, ddof=1))
    return Estimate(sigma, None, None, level, n, missing, "none", OF_SIGMA)


def _of_quantile(values: list[float], missing: int, quantile: float, level: float) -> Estimate:
    """Take values whose ranks enclose the quantile, by the binomial law (David and Nagaraja)."""
    import numpy as np
    from scipy import stats

    n = len(values)
    estimate = float(np.quantile(values, quantile)) if values else None
    needed = max(FEWEST, values_needed(quantile, level))
    if estimate is None or n < needed:
        return Estimate(estimate, None, None, level, n, missing, ORDER, too_few(n, needed))
    if len(set(values)) == 1:
        return Estimate(estimate, None, None, level, n, missing, ORDER, SAME)
    # Of n values so many lie below the quantile, but for the tails.
    tail = (1 - level) / 2
    fewest, most = (int(stats.binom.ppf(part, n, quantile)) for part in (tail, 1 - tail))
    ordered = np.sort(values)
    low, high = ordered[max(fewest, 1) - 1], ordered[min(most, n - 1)]
    return Estimate(estimate, float(low), float(high), level, n, missing, ORDER)


def _around(
    ratio: float, covariance: Any, divisor: float, freedom: float, level: float
) -> Ends | None:
    """Solve Fieller's equation for how far the ratio may be off; None if without bound.

    ``covariance`` is that of the means of the residual first − ratio second, and of the second.
    """
    square = student(freedom, level) ** 2
    (of_residual, both), (_, of_divisor) = covariance
    leading = divisor**2 - square * of_divisor
    if not leading > 0:
        return None
    middle = -square * both
    reach = math.sqrt(middle**2 + leading * square * of_residual)
    low, high = ((middle + side * reach) / leading for side in (-1, 1))
    ends = ratio + float(low), ratio + float(high)
    return ends if all(map(math.isfinite, ends)) else None


def _with(
    ends: Ends | None, reason: str, estimate: float, level: float, n: int, missing: int, method: str
) -> Estimate:
    if ends is None:
        return Estimate(estimate, None, None, level, n, missing, method, reason)
    return Estimate(estimate, *ends, level, n, missing, method)


def _quantile(statistic: str | float) -> float:
    if statistic == "median":
        return 0.5
    if isinstance(statistic, str):
        raise ValueError(f"there is no statistic {statistic!r}; there are mean, median, sigma")
    if not 0 < statistic < 1:
        raise ValueError(f"a quantile lies between 0 and 1, not at {statistic}")
    return statistic


QUANTILES = (0.05, 0.25, 0.75, 0.95)


@dataclass(frozen=True)
class Description:
    """Where values lie and how far they spread."""

    n: int
    missing: int
    minimum: float | None
    maximum: float | None
    mean: Estimate
    #: Standard deviation, with n − 1.
    sigma: Estimate
    median: Estimate
    #: By the quantile, from 0 to 1.
    quantiles: dict[float, Estimate]


def describe(
    values: Iterable[float | None],
    *,
    quantiles: Sequence[float] = QUANTILES,
    level: float = LEVEL,
) -> Description:
    """Describe values of independent runs, one per run; see :func:`interval`."""
    found, missing = known(values)

    def estimate(statistic: str | float) -> Estimate:
        # What is missing must be counted there, too.
        return interval([*found, *[None] * missing], statistic, level=level)

    return Description(
        n=len(found),
        missing=missing,
        minimum=min(found, default=None),
        maximum=max(found, default=None),
        mean=estimate("mean"),
        sigma=estimate("sigma"),
        median=estimate("median"),
        quantiles={quantile: estimate(quantile) for quantile in quantiles},
    )
