"""Seeds whose few runs represent many."""

from __future__ import annotations

import random
from collections.abc import Sequence
from statistics import fmean, pstdev
from typing import Any

from mptcplab.calibration.measure import PATH
from mptcplab.scenario.alternatives import drawn
from mptcplab.scenario.draw import normal

# Beyond those that people use, so that what is fitted is not what is shown.
POOL = range(1001, 1201)
TRIALS = 2000


def balanced(link: dict[str, Any], count: int) -> list[int]:
    """Give seeds whose draws together have nearly mean 0 and deviation 1.

    What else the link may be comes as nearly as often as it is to.

    The mean over few seeds by chance is that of luckier or unluckier networks than were measured.
    """
    pool = list(POOL)
    values = {
        what: {seed: float(normal(seed, f"link.{PATH}", what)) for seed in pool}
        for what in link.get("draw", {})
    }
    others = link.get("alternatives", [])
    which = {seed: drawn(link, others, f"link.{PATH}", seed) for seed in pool if others}
    chance = random.Random(count)  # noqa: S311 - no secret
    groups = [sorted(chance.sample(pool, count)) for _ in range(TRIALS if values or others else 1)]

    def bias(group: Sequence[int]) -> float:
        normals = [[one[seed] for seed in group] for one in values.values()]
        far = [sum(which[seed] is one for seed in group) / count - one["weight"] for one in others]
        off = [fmean(one) ** 2 + (pstdev(one) - 1) ** 2 for one in normals]
        return sum((*off, *(one**2 for one in far)), start=0.0)

    return min(groups, key=bias)
