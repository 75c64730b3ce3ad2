"""Whether runs show what a paper found."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mptcplab.results.statistics.bootstrap import interval
from mptcplab.results.statistics.pairs import paired
from mptcplab.words.text import figure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mptcplab.results.statistics.estimate import Estimate

    Values = Sequence[float | None]

HOLDS, FAILS, OPEN = "reproduces", "does not reproduce", "undecided"
#: So it is, but not by as much.
DIRECTION = "in direction"
#: So it is, as the links were calibrated on the very figures that it is about.
FITTED = "as fitted"
#: As much as printed, within this factor.
NEAR = 1.1
# What is told of an interval that there need not be.
SAME = "all values are the same"
#: Of what hangs on a link whose figures nobody measured.
UNJUDGED = "cannot be judged"


@dataclass(frozen=True)
class Verdict:
    """What came of it, and the figures that say so."""

    status: str
    because: str


def more(first: Values, second: Values, what: str, unit: str = "") -> Verdict:
    """Ask whether the first is more than the second, run by run under the same conditions."""
    found = paired(first, second)
    ours, other = interval(first).estimate, interval(second).estimate
    if ours is None or other is None or not found.n:
        return Verdict(OPEN, f"{what}: there are no runs to compare")
    words = f"{what}: {figure(ours)} against {figure(other)}{_unit(unit)}"
    if found.relative.estimate is not None:
        words += f", {100 * found.relative.estimate:+.0f} %"
    return Verdict(_side(found.difference, 0.0), words + _range("the difference", found.difference))


def above(values: Values, bound: float, what: str, unit: str = "") -> Verdict:
    """Ask whether the mean is above a bound."""
    mean = interval(values)
    if mean.estimate is None:
        return Verdict(OPEN, f"{what}: it is not known of any run")
    words = f"{what}: {figure(mean.estimate)}{_unit(unit)}, asked is more than {figure(bound)}"
    return Verdict(_side(mean, bound), words + _range("the mean", mean))


def below(values: Values, bound: float, what: str, unit: str = "") -> Verdict:
    """Ask whether the mean is below a bound."""
    negated = above([None if one is None else -one for one in values], -bound, what, unit)
    mean = interval(values)
    if mean.estimate is None:
        return negated
    words = f"{what}: {figure(mean.estimate)}{_unit(unit)}, asked is less than {figure(bound)}"
    return Verdict(negated.status, words + _range("the mean", mean))


def sized(direction: Verdict, ours: Values, printed: float, what: str, unit: str = "") -> Verdict:
    """Ask besides whether it is of the size that was printed, and say how far off it is."""
    mean = interval(ours).estimate
    if mean is None or mean <= 0:
        return direction
    off = mean / printed
    words = f"{what} {figure(mean)} where {figure(printed)}{_unit(unit)} is printed: ×{off:.2f}"
    far = direction.status == HOLDS and abs(math.log(off)) > math.log(NEAR)
    return Verdict(DIRECTION if far else direction.status, f"{direction.because}; {words}")


def in_most(runs: Sequence[bool | None], what: str, least: float = 0.5) -> Verdict:
    """Ask whether something is so in more than a share of the runs."""
    known = [one for one in runs if one is not None]
    if not known:
        return Verdict(OPEN, f"{what}: it is not known of any run")
    words = f"{what}: in {sum(known)} of {len(known)} runs"
    return Verdict(HOLDS if sum(known) > least * len(known) else FAILS, words)


def both(*asked: Verdict) -> Verdict:
    """Ask for several things at once."""
    order = (FAILS, OPEN, DIRECTION, HOLDS)
    status = min((one.status for one in asked), key=order.index)
    return Verdict(status, "; ".join(one.because for one in asked))


def ratio(first: Values, second: Values) -> list[float | None]:
    """Give first / second, run by run."""
    return _by_run(first, second, lambda a, b: a / b if b else None)


def _by_run(
    first: Values, second: Values, how: Callable[[float, float], float | None]
) -> list[float | None]:
    return [
        None if a is None or b is None else how(a, b) for a, b in zip(first, second, strict=True)
    ]


def _side(mean: Estimate, bound: float) -> str:
    """Decide by the interval; where all runs gave the same, there is none and none is needed."""
    low, high = mean.low, mean.high
    if low is None or high is None:
        if mean.reason != SAME or mean.estimate is None:
            return OPEN
        low = high = mean.estimate
    if low > bound:
        return HOLDS
    return FAILS if high <= bound else OPEN


def _range(what: str, mean: Estimate) -> str:
    if mean.low is None or mean.high is None:
        return f", n = {mean.n}"
    return f"; {what} lies in {figure(mean.low)} to {figure(mean.high)} ({mean.level:.0%})"


def _unit(unit: str) -> str:
    return f" {unit}" if unit else ""
