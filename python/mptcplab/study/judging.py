"""Whether runs show what a paper found.

A verdict is what tests say, each with its p: on which side of what was asked the runs lie, and
whether they lie in the band of the size that was printed. All of a study are corrected together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mptcplab.labels.text import figure
from mptcplab.results.statistics import adjust, interval, paired, quotient
from mptcplab.results.statistics.intervals import LEVEL, Estimate, known, known_pairs
from mptcplab.results.statistics.tests import of_count, of_mean

Values = Sequence[float | None]

HOLDS, FAILS, OPEN = "reproduces", "does not reproduce", "undecided"
#: So it is, but it is not shown to be by as much.
DIRECTION = "in direction"
#: So it is, as the links were calibrated on the very figures that it is about.
FITTED = "as fitted"
#: As much as printed: within this factor.
NEAR = 1.1
#: Of what depends on a link whose figures were not measured, or on what was not printed.
UNJUDGED = "cannot be judged"
#: Of what the paper's own rows of single paths contradict.
CONTRADICTED = "against its own rows"
# What is wrongly decided of all findings of a study by chance, with this probability at most.
CHANCE = 1 - LEVEL
CORRECTION = "holm"


@dataclass(frozen=True)
class Verdict:
    """The result of a test: how likely chance alone gives as much, and the figures."""

    #: The p of what decides that it is so, and of what decides that it is not: two-sided tests.
    holds: float
    fails: float
    because: str
    #: The p of what decides that it is as much as printed; None where no size is asked.
    sized: float | None = None

    @property
    def status(self) -> str:
        """The verdict by itself, without others beside it."""
        return status(self.holds, self.fails, self.sized)


@dataclass(frozen=True)
class Ratio:
    """A ratio of two means over runs under the same conditions."""

    first: Values
    second: Values

    @property
    def estimate(self) -> Estimate:
        """The ratio with its interval."""
        one, other, missing = known_pairs(self.first, self.second)
        return quotient(one, other, missing=missing)

    def beyond(self, bound: float) -> list[float]:
        """How far each run is above a bound of the ratio, in the first's unit."""
        one, other, _ = known_pairs(self.first, self.second)
        return [a - bound * b for a, b in zip(one, other, strict=True)]


@dataclass(frozen=True)
class Mean:
    """A mean over runs."""

    values: Values

    @property
    def estimate(self) -> Estimate:
        """The mean with its interval."""
        return interval(self.values)

    def beyond(self, bound: float) -> list[float]:
        """How far each run is above a bound."""
        return [one - bound for one in known(self.values)[0]]


def status(holds: float, fails: float, sized: float | None) -> str:
    """Say what p-values come to, be they corrected or not."""
    if holds < CHANCE:
        return HOLDS if sized is None or sized < CHANCE else DIRECTION
    return FAILS if fails < CHANCE else OPEN


def corrected(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Correct all p-values of verdicts together (Holm).

    Each verdict makes one claim about its side, whichever is the likelier, and maybe one about its
    size. With all of them the chance of even one that is wrong stays below 5 %.
    """
    given = list(verdicts)
    sides = [min(one.holds, one.fails) for one in given]
    sizes = [one.sized if one.holds <= one.fails else None for one in given]
    found = adjust([*sides, *sizes], CORRECTION)
    results = []
    for one, side, size in zip(given, found, found[len(given) :], strict=False):
        p_value = 1.0 if side is None else side
        holds, fails = (p_value, 1.0) if one.holds <= one.fails else (1.0, p_value)
        results.append(Verdict(holds, fails, one.because, one.sized if size is None else size))
    return results


def more(first: Values, second: Values, what: str, unit: str = "") -> Verdict:
    """Ask whether the first is more than the second, run by run under the same conditions."""
    found = paired(first, second)
    ours, other = interval(first).estimate, interval(second).estimate
    if ours is None or other is None or not found.n:
        return _unknown(f"{what}: there are no runs to compare")
    evidence = f"{what}: {figure(ours)} against {figure(other)}{_unit(unit)}"
    if found.relative.estimate is not None:
        evidence += f", {100 * found.relative.estimate:+.0f} %"
    one, other_, _ = known_pairs(first, second)
    beyond = [a - b for a, b in zip(one, other_, strict=True)]
    return _sided(beyond, f"{evidence}; difference{_range(found.difference)}")


def above(of: Values | Ratio, bound: float, what: str, unit: str = "") -> Verdict:
    """Ask whether a mean, or a ratio of means, is above a bound."""
    return _bounded(of, bound, what, unit, is_above=True)


def below(of: Values | Ratio, bound: float, what: str, unit: str = "") -> Verdict:
    """Ask whether it is below a bound."""
    return _bounded(of, bound, what, unit, is_above=False)


def sized(
    direction: Verdict, ours: Values | Ratio, printed: float, what: str, unit: str = ""
) -> Verdict:
    """Ask besides whether it is of the size that was printed, within 10 %.

    It is if the whole interval lies within (two one-sided tests: Schuirmann, Journal of
    Pharmacokinetics and Biopharmaceutics 15, 1987).
    """
    of = _quantity(ours)
    mean = of.estimate.estimate
    if mean is None:
        return direction
    ends = (of.beyond(printed / NEAR), of.beyond(printed * NEAR))
    tests = (_sided(ends[0], "").holds, _sided(ends[1], "").fails)
    evidence = f"{what} {figure(mean)}{_unit(unit)}{_range(of.estimate)}, printed {figure(printed)}"
    because = f"{direction.because}; {evidence}: ×{mean / printed:.2f}"
    known_sizes = [one for one in (direction.sized, max(tests)) if one is not None]
    return Verdict(direction.holds, direction.fails, because, max(known_sizes))


def in_most(runs: Sequence[bool | None], what: str) -> Verdict:
    """Ask whether something is so in more than half of all runs that there could be."""
    found = [one for one in runs if one is not None]
    if not found:
        return _unknown(f"{what}: it is not known of any run")
    evidence = f"{what}: in {sum(found)} of {len(found)} runs"
    p_value = of_count(sum(found), len(found), 0.5)
    so = 2 * sum(found) > len(found)
    return Verdict(*((p_value, 1.0) if so else (1.0, p_value)), evidence)


def both(*asked: Verdict) -> Verdict:
    """Ask for several things at once.

    It is so if all are: the weakest test decides (Berger, Technometrics 24, 1982). It is not if one
    is not: of as many tests the strongest, multiplied by their number.
    """
    sizes = [one.sized for one in asked if one.sized is not None]
    return Verdict(
        max(one.holds for one in asked),
        min(1.0, len(asked) * min(one.fails for one in asked)),
        "; ".join(one.because for one in asked),
        max(sizes) if sizes else None,
    )


def over(*samples: Values) -> Values:
    """Give the mean over several configurations, seed by seed; unknown where one of them is.

    Runs with the same seed met the same radio: those of several configurations are one sample.
    """
    return [
        None if None in values else sum(one for one in values if one is not None) / len(values)
        for values in zip(*samples, strict=True)
    ]


def _bounded(of: Values | Ratio, bound: float, what: str, unit: str, *, is_above: bool) -> Verdict:
    quantity = _quantity(of)
    found = quantity.estimate
    if found.estimate is None:
        return _unknown(f"{what}: it is not known of any run")
    sign = ">" if is_above else "<"
    evidence = f"{what}: {figure(found.estimate)}{_unit(unit)}{_range(found)}"
    verdict = _sided(quantity.beyond(bound), f"{evidence}, required {sign} {figure(bound)}")
    if is_above:
        return verdict
    return Verdict(verdict.fails, verdict.holds, verdict.because)


def _sided(beyond: Sequence[float], because: str) -> Verdict:
    """Judge by how far each run is above what was asked."""
    # Of runs that are all as much as asked, none is above.
    p_value = of_mean(beyond) if any(beyond) else of_count(0, len(beyond), 0.5)
    return Verdict(*((p_value, 1.0) if sum(beyond) > 0 else (1.0, p_value)), because)


def _quantity(of: Values | Ratio) -> Mean | Ratio:
    return of if isinstance(of, Ratio) else Mean(of)


def _unknown(because: str) -> Verdict:
    return Verdict(1.0, 1.0, because)


def _range(of: Estimate) -> str:
    if of.low is None or of.high is None:
        return f" (n = {of.n})"
    return f" ({of.level:.0%} CI {figure(of.low)} to {figure(of.high)})".replace("%", " %")


def _unit(unit: str) -> str:
    return f" {unit}" if unit else ""
