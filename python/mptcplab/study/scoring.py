"""How near ours is to theirs, and whether that is better than a naive guess."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import quantiles

from mptcplab.measurements import Figure
from mptcplab.results.statistics import interval
from mptcplab.results.statistics.intervals import Estimate, known, known_pairs
from mptcplab.study.judging import Ratio

# Below this a printed 0.00 and ours cannot be distinguished.
SMALLEST = 1e-6
PREDICTION = 0.9
# Fewer say nothing of its ends.
LEAST_RUNS = 10

BEST, SUM, EQUAL, ALONE = "best single path", "sum of paths", "equal split", "as alone"


@dataclass(frozen=True)
class Score:
    """A number of ours beside a printed one."""

    mean: Estimate
    #: Standard deviation over runs.
    sigma: float | None
    #: ln(ours / theirs); none where one of them is unknown, 0, or only bounded.
    log_error: float | None
    #: The same of each naive predictor.
    naive: dict[str, float]
    #: The prediction interval: between which ``PREDICTION`` of runs lie.
    range: tuple[float, float] | None


def score(
    theirs: Figure, ours: Sequence[float | None] | Ratio, naive: Mapping[str, float]
) -> Score:
    """Compare what runs gave with what was printed."""
    mean = ours.estimate if isinstance(ours, Ratio) else interval(ours)
    errors = {name: log_error(value, theirs) for name, value in naive.items()}
    return Score(
        mean=mean,
        sigma=None if isinstance(ours, Ratio) else interval(ours, "sigma").estimate,
        log_error=None if mean.estimate is None else log_error(mean.estimate, theirs),
        naive={name: error for name, error in errors.items() if error is not None},
        range=prediction(ours),
    )


def prediction(ours: Sequence[float | None] | Ratio) -> tuple[float, float] | None:
    """Give the interval in which the next run lies with the probability ``PREDICTION``.

    Its ends are quantiles over runs, of which each has one of the links that single paths allow, so
    that it covers what is not known of the links, too.
    """
    if isinstance(ours, Ratio):
        first, second, _ = known_pairs(ours.first, ours.second)
        values = [one / other for one, other in zip(first, second, strict=True) if other]
    else:
        values = known(ours)[0]
    if len(values) < LEAST_RUNS:
        return None
    ends = quantiles(values, n=round(2 / (1 - PREDICTION)))
    return ends[0], ends[-1]


def log_error(ours: float, theirs: Figure) -> float | None:
    """Give ln(ours / theirs)."""
    if theirs.below or min(ours, theirs.mean) < SMALLEST:
        return None
    return math.log(ours / theirs.mean)


def skill(errors: Iterable[float], naive: Iterable[float]) -> float | None:
    """Give 1 − mean |log error| / mean |log error of the naive predictor|.

    1 is perfect, 0 as good as naive, below 0 worse. Means are compared rather than single numbers:
    one that a naive predictor happens to hit would have a skill of minus infinity.
    """
    own, other = [abs(one) for one in errors], [abs(one) for one in naive]
    if not own or len(own) != len(other) or not sum(other):
        return None
    return 1 - sum(own) / sum(other)


def aggregate(alone: Sequence[float]) -> dict[str, float]:
    """Predict a connection's throughput from those of plain TCP over each path."""
    return {BEST: max(alone), SUM: sum(alone), EQUAL: max(alone)}


def best(printed: float) -> dict[str, float]:
    """Predict a connection's throughput from that of the best single path, as it was printed."""
    return dict.fromkeys((BEST, EQUAL), printed)


def part(alone: Mapping[str, float], path: str, subflows: int = 1) -> dict[str, float]:
    """Predict the throughput of a path, or of one of its subflows.

    The best single path's throughput in proportion to what the paths carry alone; what the path
    carries alone; and the best single path's in equal parts.
    """
    best, own = max(alone.values()), alone[path]
    return {
        BEST: best * own / sum(alone.values()) / subflows,
        SUM: own / subflows,
        EQUAL: best / len(alone) / subflows,
    }
