"""Pairs of runs, what several paths give over the best one alone, and p-values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mptcplab.results.statistics.intervals import (
    FEWEST,
    LEVEL,
    Estimate,
    interval,
    known,
    known_pairs,
    quotient,
)

#: Throughput by pair; None if the run did not finish. A run that was not made is not there.
Values = Mapping[Any, float | None]

TEST = "Wilcoxon signed-rank test, two-sided"
MOST_SIGNS = 13


@dataclass(frozen=True)
class Paired:
    """How much the first of each pair is above the second."""

    #: Pairs that were used, and left out.
    n: int
    missing: int
    #: Mean difference.
    difference: Estimate
    #: Difference of the means / the second's mean; 0.25 is 25 % more.
    relative: Estimate
    #: Standard deviation of the differences, with n − 1.
    sigma: float | None
    #: Matched-pairs rank-biserial correlation, from −1 to 1.
    rank_biserial: float | None
    #: That the sign of each difference is chance; None if no pair differs.
    p_value: float | None
    test: str = TEST


def paired(
    first: Sequence[float | None],
    second: Sequence[float | None],
    *,
    level: float = LEVEL,
) -> Paired:
    """Compare values pair by pair; a pair of which one is missing is left out and counted."""
    one, other, missing = known_pairs(first, second)
    differences = [a - b for a, b in zip(one, other, strict=True)]
    return Paired(
        n=len(differences),
        missing=missing,
        difference=replace(interval(differences, level=level), missing=missing),
        relative=_less_one(quotient(one, other, missing=missing, level=level)),
        sigma=interval(differences, "sigma").estimate,
        rank_biserial=_rank_biserial(differences) if differences else None,
        p_value=_p_value(differences),
    )


def _less_one(ratio: Estimate) -> Estimate:
    def less(value: float | None) -> float | None:
        return None if value is None else value - 1

    return replace(ratio, estimate=less(ratio.estimate), low=less(ratio.low), high=less(ratio.high))


def _rank_biserial(differences: list[float]) -> float:
    """Kerby, "The simple difference formula", Comprehensive Psychology 3, 2014, article 11.IT.3.1.

    The part of the ranks' sum that speaks for the first, minus the part that speaks against it.
    Pairs without a difference have ranks, too, and speak for neither (Pratt, "Remarks on zeros and
    ties in the Wilcoxon signed rank procedures", JASA 54, 1959).
    """
    import numpy as np
    from scipy import stats

    ranks = stats.rankdata(np.abs(differences))
    return float(np.sum(ranks * np.sign(differences)) / np.sum(ranks))


def _p_value(differences: list[float]) -> float | None:
    """Exact for up to 50 pairs without ties; with ties all signs are tried up to 13 pairs."""
    import numpy as np
    from scipy import stats

    if not any(differences):
        return None
    sizes = np.abs(differences)
    if len(differences) <= MOST_SIGNS and len(np.unique(sizes[sizes > 0])) < len(differences):
        return _of_all_signs(stats.rankdata(sizes) * np.sign(differences))
    return float(stats.wilcoxon(differences, zero_method="pratt").pvalue)


def _of_all_signs(ranks: Any) -> float:
    """Say how often signs by chance give a sum of ranks at least as far out."""
    import numpy as np

    patterns = np.arange(2 ** len(ranks))[:, np.newaxis] >> np.arange(len(ranks)) & 1
    sums = patterns @ np.abs(ranks)
    # Ranks are halves: sums of them are exact.
    own = ranks[ranks > 0].sum()
    tails = np.mean(sums >= own), np.mean(sums <= own)
    return min(1.0, 2 * float(min(tails)))


UNFINISHED = "not every run finished: the pairs that are left would be the luckier ones"


@dataclass(frozen=True)
class Finished:
    """How many of the runs finished."""

    finished: int
    runs: int

    @property
    def all(self) -> bool:
        """Whether every run did."""
        return self.finished == self.runs

    @property
    def part(self) -> float:
        """Which part of the runs did; 0 without runs."""
        return self.finished / self.runs if self.runs else 0.0


@dataclass(frozen=True)
class Gain:
    """Multipath against the best single path."""

    #: None if no single path finished a run.
    best_path: str | None
    #: Over pairs in which both finished. ``paired.relative`` is the gain, empty where not every
    #: run of both finished.
    paired: Paired
    multipath: Finished
    #: Of the best path, or of one of those that never finished.
    single_path: Finished

    @property
    def all_finished(self) -> bool:
        """Whether every run of both finished."""
        return self.multipath.all and self.single_path.all


def gain(
    multipath: Values,
    single_paths: Mapping[str, Values],
    *,
    level: float = LEVEL,
) -> Gain:
    """Compare throughputs with those over the best path, pair by pair.

    Best is, of the paths of which most runs finished, that with the highest mean. It is the same
    for all pairs: the best of each pair would be the larger of noisy figures, which is more than
    any path gives.
    """
    finished = {path: _finished(values) for path, values in single_paths.items()}
    best = max(
        finished, key=lambda path: (finished[path].part, _mean(single_paths[path])), default=None
    )
    single_path = Finished(0, 0) if best is None else finished[best]
    against = {} if best is None else dict(single_paths[best])
    found = Gain(
        best if single_path.finished else None,
        paired(
            list(multipath.values()),
            [against.get(pair) for pair in multipath],
            level=level,
        ),
        _finished(multipath),
        single_path,
    )
    return found if found.all_finished else replace(found, paired=_without_gain(found.paired))


def _finished(values: Values) -> Finished:
    return Finished(len(known(values.values())[0]), len(values))


def _mean(values: Values) -> float:
    found, _ = known(values.values())
    return sum(found) / len(found) if found else 0.0


def _without_gain(found: Paired) -> Paired:
    one = found.relative
    return replace(
        found,
        relative=Estimate(None, None, None, one.level, one.n, one.missing, one.method, UNFINISHED),
    )


def of_mean(values: Sequence[float]) -> float:
    """Give how likely a mean at least as far from 0 is by chance: Student's t, two-sided.

    Of fewer values than have an interval it is 1.

    Values that are all the same are tested by their signs: how far from 0 they are says nothing
    where nothing says how far they spread.
    """
    import numpy as np
    from scipy import special

    n = len(values)
    if n < FEWEST or not any(values):
        return 1.0
    error = float(np.std(values, ddof=1)) / math.sqrt(n) if len(set(values)) > 1 else 0.0
    if not error:
        return min(1.0, 2.0 ** (1 - n))
    return float(2 * special.stdtr(n - 1, -abs(float(np.mean(values))) / error))


def of_count(so: int, n: int, share: float) -> float:
    """Give how likely a count at least as far to its side is by the binomial law, two-sided."""
    from scipy import special

    if not n:
        return 1.0
    tail = special.bdtrc(so - 1, n, share) if so > share * n else special.bdtr(so, n, share)
    return min(1.0, 2 * float(tail))


def pairs_needed(level: float = LEVEL, comparisons: int = 1) -> int:
    """Say how many pairs Wilcoxon's test takes to show anything.

    Two of the 2ⁿ ways to sign n differences are as extreme as all of one sign. A correction for
    several comparisons multiplies that p by their number where one alone differs, and leaves it
    where all do (Benjamini and Hochberg).
    """
    return math.floor(1 + math.log2(comparisons / (1 - level)) + 1e-9) + 1


METHODS = ("holm", "benjamini-hochberg")


def adjust(p_values: Sequence[float | None], method: str = "holm") -> list[float | None]:
    """Correct p-values that are looked at together; None stays None and does not count.

    ``"holm"`` holds the chance of even one false finding (Holm, "A simple sequentially rejective
    multiple test procedure", Scandinavian Journal of Statistics 6, 1979): for claims.
    ``"benjamini-hochberg"`` holds the expected part of false ones among the findings (Benjamini and
    Hochberg, JRSS B 57, 1995): for a search through many comparisons.
    """
    if method not in METHODS:
        raise ValueError(f"there is no correction {method!r}; there are {', '.join(METHODS)}")
    given = [value for value in p_values if value is not None]
    corrected = iter(_holm(given) if method == "holm" else _benjamini_hochberg(given))
    return [None if value is None else next(corrected) for value in p_values]


def _holm(p_values: list[float]) -> list[float]:
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, p_values[index] * (len(p_values) - rank)))
        corrected[index] = largest
    return corrected


def _benjamini_hochberg(p_values: list[float]) -> list[float]:
    from scipy import stats

    return [float(value) for value in stats.false_discovery_control(p_values)] if p_values else []
