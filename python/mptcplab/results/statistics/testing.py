"""Tests of a mean: which side of a bound it lies on, and how many runs it takes to say."""

from __future__ import annotations

import math

from mptcplab.results.statistics.estimate import LEVEL
from mptcplab.results.statistics.intervals import FEWEST
from mptcplab.words import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


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
    """Say how many pairs Wilcoxon's test takes to tell anything.

    Two of the 2ⁿ ways to sign n differences are as extreme as all of one sign. A correction for
    several comparisons multiplies that p by their number where one alone differs, and leaves it
    where all do (Benjamini and Hochberg).
    """
    return math.floor(1 + math.log2(comparisons / (1 - level)) + 1e-9) + 1


def too_few(repetitions: int, level: float) -> str | None:
    """Say where repetitions are so few that no difference between two could be significant."""
    needed = pairs_needed(level)
    if repetitions >= needed:
        return None
    are = "is" if repetitions == 1 else "are"
    return (
        f"{text.plural(repetitions, 'repetition')} {are} too few to rule out chance: at least "
        f"{needed} are needed for p < {round(1 - level, 6):g}"
    )
