"""Seeds whose few runs represent many."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from statistics import fmean, pstdev

from mptcplab.calibration.measure import PATH
from mptcplab.scenario.draw import normal

# Beyond those that people use, so that what is fitted is not what is shown.
POOL = range(1001, 1201)
TRIALS = 2000


def balanced(draws: Iterable[str], count: int) -> list[int]:
    """Give seeds whose draws together have nearly mean 0 and deviation 1.

    The mean over few seeds by chance is that of luckier or unluckier networks than were measured.
    """
    pool = list(POOL)
    values = {
        what: {seed: float(normal(seed, f"link.{PATH}", what)) for seed in pool} for what in draws
    }
    chance = random.Random(count)  # noqa: S311 - no secret
    groups = [sorted(chance.sample(pool, count)) for _ in range(TRIALS if values else 1)]

    def bias(group: Sequence[int]) -> float:
        drawn = [[one[seed] for seed in group] for one in values.values()]
        return sum(fmean(one) ** 2 + (pstdev(one) - 1) ** 2 for one in drawn)

    return min(groups, key=bias)
