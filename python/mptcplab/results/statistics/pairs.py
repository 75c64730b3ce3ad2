"""Differences between runs that met the same conditions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mptcplab.results.statistics.estimate import LEVEL, Estimate, known_pairs
from mptcplab.results.statistics.intervals import interval, quotient

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

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
