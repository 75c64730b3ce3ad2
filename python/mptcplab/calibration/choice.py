"""Which family a link is of: chosen by what plain TCP over its path alone showed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from mptcplab.calibration import start, uncertainty
from mptcplab.calibration.fit import RUNS, TRIES, balanced_seeds, judged, searched
from mptcplab.calibration.target import FIGURES, LOSS_FACTOR, NEAR, rounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mptcplab.calibration.fit import Fit, Found
    from mptcplab.calibration.model import Model
    from mptcplab.calibration.subject import Subject
    from mptcplab.calibration.target import Residual

# Runs of the papers that a mean is of, at least (UM-CS-2012-022 §III-A).
PRINTED_RUNS = 6
# A figure that is off by more than this factor is off by so much: how much more tells nothing.
MOST_OFF = 20.0
# What is less likely than this is no rival.
LEAST_WEIGHT = 0.1
# The part of runs that a range holds.
RANGE = 0.9
# Rivals start from the parameters of the first family: fewer runs and tries show which stand. Those
# of captures are fitted in seconds.
RIVAL_PART, RIVAL_TRIES = 3, 8


@dataclass(frozen=True)
class Scored:
    """A family's link, and how well it explains the figures for its parameters."""

    fit: Fit
    #: Squared errors in standard errors, by what they are of.
    errors: dict[str, float]
    bic: float = 0.0
    #: Probability among the families that were tried.
    weight: float = 1.0

    @property
    def chi_squared(self) -> float:
        """The sum of them."""
        return math.fsum(self.errors.values())


@dataclass(frozen=True)
class Choice:
    """All families that were tried, the likeliest first."""

    tried: list[Scored]

    @property
    def standing(self) -> list[Scored]:
        """Those that single paths cannot decide between, with weights that sum to 1."""
        stand = [one for one in self.tried if one.weight >= LEAST_WEIGHT]
        total = math.fsum(one.weight for one in stand)
        return [replace(one, weight=one.weight / total) for one in stand]

    def range(self, figure: str) -> tuple[float, float] | None:
        """Give what nine of ten runs show of a figure, each over a link of what stands."""
        known = [(one, one.fit.measured.values(figure)) for one in self.standing]
        runs = sorted(
            (value, one.weight / len(values)) for one, values in known for value in values
        )
        total = math.fsum(part for _, part in runs)
        if len(runs) < 2:
            return None
        below = (1 - RANGE) / 2 * total
        return _reached(runs, below), _reached(runs[::-1], below)

    @property
    def reason(self) -> str:
        """Why it is the first one, in a sentence."""
        first, *rivals = self.tried
        if not rivals:
            return "no other family is admissible"
        next_one = rivals[0]
        off = max(next_one.errors, key=lambda what: next_one.errors[what] - first.errors[what])
        gain = next_one.errors[off] - first.errors[off]
        spared = len(next_one.fit.fitted) - len(first.fit.fitted)
        named = next_one.fit.family.name
        if gain >= 1:
            return f"{off} speaks most against {named}, the likeliest rival"
        if spared > 0:
            return f"it explains as much as {named}, with fewer parameters"
        return f"single paths hardly tell it from {named}"

    def rows(self) -> list[dict[str, Any]]:
        """Give them as tables."""
        return [
            {
                "family": one.fit.family.name,
                "weight": rounded(one.weight, 3),
                "bic": rounded(one.bic, 4),
                "chi_squared": rounded(one.chi_squared, 4),
                "parameters": len(one.fit.fitted),
                "figures": len(one.errors),
                "misses": one.fit.missed,
            }
            for one in self.tried
        ]


def choose(
    subject: Subject,
    *,
    runs: int = RUNS,
    tries: int = TRIES,
    workers: int = 1,
    progress: Callable[[int, float], None] | None = None,
) -> Choice:
    """Fit the admissible families, and weigh them."""
    few = max(1, runs // RIVAL_PART), min(tries, RIVAL_TRIES)
    found: list[Found] = []
    fits: list[Fit] = []

    def fitted(model: Model, of: int, most: int, **known: Any) -> tuple[Found, Fit]:
        made = searched(model, balanced_seeds(model, of), most, workers, progress, **known)
        return made, judged(made, balanced_seeds(model, runs), workers)

    for model in start.models(subject):
        slopes: dict[str, Any] = {}
        if found:
            model, slopes = _beside(found[0], model)
        thorough = not found or subject.is_captured
        made, one = fitted(model, *((runs, tries) if thorough else few), slopes=slopes)
        found.append(made)
        fits.append(one)
    standing = {one.fit.family: one.fit for one in weighed(fits, runs).standing}
    for number, (made, one) in enumerate(zip(found, list(fits), strict=True)):
        if one.family not in standing or subject.is_captured:
            continue
        # What stands is fitted as thoroughly as the first family, from where it is.
        model = replace(made.model, start=one.parameters)
        drawn = standing[one.family].link.get("draw", {}).get("loss")
        if drawn and uncertainty.hangs_on_losses(one):
            # It is judged by what it is drawn with: its throughput is what losses leave.
            _, fits[number] = fitted(replace(model, loss_spread=drawn["spread"]), runs, tries)
        elif number:
            known = {"slopes": made.slopes, "measured": one.measured}
            _, better = fitted(model, runs, tries, **known)
            fits[number] = min(one, better, key=lambda each: math.fsum(errors(each, runs).values()))
    return weighed(fits, runs)


def _reached(runs: list[tuple[float, float]], part: float) -> float:
    """Give the first value, of some in order with their weights, with which so much is reached."""
    reached = 0.0
    for value, weight in runs:
        reached += weight
        if reached >= part:
            return value
    return runs[-1][0]


def _beside(first: Found, model: Model) -> tuple[Model, dict[str, Any]]:
    """Give a model that starts from what was found of the first, if its figures mean the same.

    Its figures then change with parameters much as those of the first do.
    """
    if model.family.capacity == "unfilled":
        return model, {}
    known = {name: first.parameters[name] for name in model.searched if name in first.parameters}
    alike = model.searched.items() <= first.model.searched.items()
    slopes = first.slopes if alike and not model.subject.is_captured else {}
    return replace(model, start=model.start | known), slopes


def weighed(fits: list[Fit], runs: int) -> Choice:
    """Weigh fits, and have what is drawn of links spread by standard errors, inflated as well."""
    scored = [Scored(one, errors(one, runs)) for one in fits]
    inflated, weights = criterion(
        [(one.chi_squared, len(one.fit.fitted)) for one in scored],
        max(1, len(scored[0].errors)),
        [_vague(one.fit, runs) for one in scored],
    )
    tried = [
        replace(one, fit=_uncertain(one.fit, runs, inflated), bic=bic, weight=weight)
        for one, (bic, weight) in zip(scored, weights, strict=True)
    ]
    return Choice(sorted(tried, key=lambda one: -one.weight))


def criterion(
    fits: list[tuple[float, int]], figures: int, vague: list[float]
) -> tuple[float, list[tuple[float, float]]]:
    """Give the Bayesian information criterion of fits, and how likely each is among them.

    They are sums of squared errors with numbers of parameters (Schwarz, Annals of Statistics 6,
    1978). There are hardly more figures than parameters, so that the AIC's correction for few is
    infinite. Where the best is off by more than its degrees of freedom, all errors are taken for
    as many times smaller, which is given, too (the quasi-likelihood of Burnham and Anderson, 2002,
    §2.5).
    """
    best, parameters = min(fits, key=lambda one: one[0])
    inflated = max(1.0, best / max(1, figures - parameters))
    bics = [
        chi_squared / inflated + unsure + count * math.log(figures)
        for (chi_squared, count), unsure in zip(fits, vague, strict=True)
    ]
    likely = [math.exp(-(bic - min(bics)) / 2) for bic in bics]
    total = math.fsum(likely)
    return inflated, [(bic, part / total) for bic, part in zip(bics, likely, strict=True)]


def _uncertain(fit: Fit, runs: int, inflated: float) -> Fit:
    standard = {
        one.target.figure: math.sqrt(inflated) * _standard_error(fit, one, runs)
        for one in fit.residuals
    }
    return replace(fit, link=uncertainty.widened(fit, standard))


def errors(fit: Fit, runs: int) -> dict[str, float]:
    """Give the squared errors of means, then of deviations, in standard errors.

    Both are logarithms. Means have the standard error of the printed runs and of ours, and what is
    near enough is no error of less than one. A printed deviation of round trips may be one between
    runs or within them: the nearer is taken.
    """
    found = {}
    for one in fit.residuals:
        figure, shown = one.target.figure, one.shown or 0.0
        off = _log(shown / one.target.value)
        if one.target.is_bound:
            off = max(0.0, -off if one.target.above else off) / math.log(LOSS_FACTOR)
        else:
            off /= _standard_error(fit, one, runs)
        found[_name(figure)] = off**2
    if not fit.subject.draws or runs < 2:
        return found
    spread = math.hypot(*(1 / math.sqrt(2 * (count - 1)) for count in (PRINTED_RUNS, runs)))
    for one in fit.residuals:
        figure, printed = one.target.figure, one.target.sd
        if not printed:
            continue
        ours = [one.sd or 0.0]
        if figure == "rtt":
            ours.append(fit.measured.mean("rtt_sd") or 0.0)
        # Deviations by less than what is near enough for a mean are as good as none.
        none = _near(one) * one.target.value
        off = min(abs(_log(math.hypot(each, none) / math.hypot(printed, none))) for each in ours)
        found[f"deviation of {_name(figure)}"] = (off / spread) ** 2
    return found


def _standard_error(fit: Fit, one: Residual, runs: int) -> float:
    """Give it of the logarithm of a figure's mean.

    A capture is one run, which is off by as much as runs over the link differ.
    """
    value = one.target.value
    between = (one.sd or 0.0) / max(one.shown or 0.0, value / MOST_OFF)
    ours = between / math.sqrt(runs)
    if fit.subject.is_captured:
        theirs = between
    else:
        theirs = (one.target.sd or 0.0) / math.sqrt(PRINTED_RUNS) / value
    return max(_least(one), math.hypot(theirs, ours))


def _least(one: Residual) -> float:
    """Give the error of the logarithm of a figure's mean below which nothing counts."""
    return math.log1p(_near(one))


def _vague(fit: Fit, runs: int) -> float:
    """Give how much less a family says that has runs differ: twice its likelihood's logarithm.

    What is printed has a deviation of its own, whatever the family.
    """
    if not fit.subject.is_captured:
        return 0.0
    return math.fsum(
        2 * math.log(_standard_error(fit, one, runs) / _least(one))
        for one in fit.residuals
        if not one.target.is_bound
    )


def _near(one: Residual) -> float:
    """Give what part of a figure's mean is near enough, whatever its deviation."""
    if one.target.figure == "loss":
        return LOSS_FACTOR - 1
    return NEAR if one.target.sd is not None else one.target.near / one.target.value


def _name(figure: str) -> str:
    return FIGURES[figure].partition(" (")[0]


def _log(ratio: float) -> float:
    return math.log(min(max(ratio, 1 / MOST_OFF), MOST_OFF))
