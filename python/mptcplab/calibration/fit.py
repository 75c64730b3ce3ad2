"""The fit: a link whose simulated figures come near the targets."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mptcplab.calibration import model as models
from mptcplab.calibration.measure import Measured, measure
from mptcplab.calibration.target import LOSS_FACTOR, Residual

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from mptcplab.calibration.model import Model, Parameters
    from mptcplab.calibration.subject import Subject

# Every try meets the same conditions: differences are the parameters'.
SEEDS = range(1001, 1013)
TRIES = 24
# Good enough: log errors of that size are those of the targets' own digits.
ENOUGH = 0.02
# Most that a parameter changes in a step, as a logarithm.
LONGEST = 0.7
# After so many tries that were no better the slopes are looked at, this far aside.
PATIENCE = 3
LOOK = 0.15
# What takes errors this far beyond the least so far was a step astray.
FAR = 2.0
LEAST_STEP = 1e-4
# A bound that is no room at all is none.
TINY = 1e-9
# A figure below this part of its target counts as this part.
LEAST = 0.01


@dataclass(frozen=True)
class Fit:
    """A calibrated link."""

    subject: Subject
    parameters: Parameters
    #: By parameter, the figure that it was fitted to.
    fitted: dict[str, str]
    link: dict[str, Any]
    residuals: list[Residual]

    @property
    def missed(self) -> list[str]:
        """The figures that the link does not show."""
        return [one.target.figure for one in self.residuals if not one.is_met]


def fit(
    subject: Subject,
    *,
    seeds: Sequence[int] = SEEDS,
    tries: int = TRIES,
    workers: int = 1,
    progress: Callable[[int, float], None] | None = None,
) -> Fit:
    """Fit a link to a subject; ``progress`` is told the tries so far and the largest error."""
    model = models.of(subject)
    best = _search(model, seeds, tries, workers, progress)
    return judged(model, best, seeds, workers)


def judged(model: Model, at: Parameters, seeds: Sequence[int], workers: int) -> Fit:
    """Say how near the link with these parameters comes."""
    subject, link = model.subject, model.link(at)
    return Fit(
        subject,
        at,
        model.fitted,
        link,
        residuals(subject, measure(subject, link, seeds, workers=workers)),
    )


def residuals(subject: Subject, measured: Measured) -> list[Residual]:
    """Give every target beside what was simulated."""
    return [
        Residual(one, measured.mean(one.figure), measured.sd(one.figure)) for one in subject.targets
    ]


def _search(
    model: Model,
    seeds: Sequence[int],
    tries: int,
    workers: int,
    progress: Callable[[int, float], None] | None,
) -> Parameters:
    """Give the best parameters: a secant method for several figures at once (Broyden, 1965).

    Parameters and figures are logarithms, each figure's error in units of what is near enough for
    it, so that where not all can be met the surest are; steps keep to the bounds.
    """
    import numpy as np
    from scipy.optimize import lsq_linear

    names = list(model.fitted)
    bounds = [models.BOUNDS[name] for name in names]
    low, high = (np.log([pair[side] for pair in bounds]) for side in (0, 1))
    scales = np.array([_scale(model, figure) for figure in model.fitted.values()])
    guess = np.diag([_slope(model, name) for name in names]) / scales[:, None]

    def parameters(x: Any) -> Parameters:
        return model.start | dict(zip(names, map(float, np.exp(x)), strict=True))

    def errors(x: Any) -> Any:
        shown = measure(model.subject, model.link(parameters(x)), seeds, workers=workers)
        raw = [_error(model, figure, shown) for figure in model.fitted.values()]
        return np.array(raw) / scales

    x = np.clip(np.log([model.start[name] for name in names]), low, high)
    error, slopes = errors(x), guess
    best, least, idle = x, error, 0
    for number in range(1, tries):
        if progress is not None:
            progress(number, float(np.max(np.abs(least * scales))))
        if np.max(np.abs(least * scales)) < ENOUGH or idle > 2 * PATIENCE:
            break
        if idle == PATIENCE:
            # The slopes mislead: look at every one.
            x, error, idle = best, least, idle + 1
            for column, side in enumerate(np.where(best + LOOK < high, LOOK, -LOOK)):
                aside = best + side * (np.arange(len(best)) == column)
                slopes[:, column] = (errors(aside) - least) / side
        room = np.maximum(low - x, -LONGEST), np.minimum(high - x, LONGEST)
        step = lsq_linear(slopes, -error, bounds=(room[0] - TINY, room[1] + TINY)).x
        if step @ step < LEAST_STEP**2:
            break
        new = errors(x + step)
        slopes = slopes + np.outer(new - error - slopes @ step, step) / (step @ step)
        x, error = x + step, new
        if _size(error) < _size(least):
            best, least, idle = x, error, 0
            continue
        idle += 1
        if _size(error) > FAR * _size(least):
            x, error, slopes = best, least, (slopes + guess) / 2
    return parameters(best)


def _scale(model: Model, figure: str) -> float:
    """Give the logarithmic error of a figure that is just near enough."""
    target = model.subject.target(figure)
    assert target is not None  # noqa: S101 - only those are fitted
    return math.log(LOSS_FACTOR) if figure == "loss" else math.log1p(target.near / target.value)


def _error(model: Model, figure: str, shown: Measured) -> float:
    value = model.subject.value(figure, 1.0)
    mean = shown.mean(figure)
    return math.log(max(mean or 0.0, LEAST * value) / value)


def _slope(model: Model, name: str) -> float:
    """Guess how a figure follows its parameter."""
    rtt = model.subject.value("rtt", 0.0)
    if name == "queue_ms" and rtt and model.fitted[name] == "rtt":
        return max(0.2, 1 - model.start["base_ms"] / rtt)
    return 0.7 if name == "burst_percent" else 1.0


def _size(error: Any) -> float:
    return float((error @ error) ** 0.5)
