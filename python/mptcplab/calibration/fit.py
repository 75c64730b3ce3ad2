"""The fit: a link whose simulated figures come near the targets."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from mptcplab.calibration import model as models
from mptcplab.calibration import start
from mptcplab.calibration.measure import Measured, measure
from mptcplab.calibration.seeds import balanced
from mptcplab.calibration.target import LOSS_FACTOR, Residual

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from mptcplab.calibration.families import Family
    from mptcplab.calibration.model import Model, Parameters
    from mptcplab.calibration.subject import Subject

RUNS = 12
TRIES = 24
# Good enough of a capture: log errors of that size are those of its own digits.
ENOUGH = 0.02
# Good enough of what is printed: squared errors, in units of what is near enough, whose sum says
# little beside what one parameter costs a family. To ask for more is to follow the chances of a few
# runs' losses.
ENOUGH_SQUARED = 0.25
# Most that a parameter changes in a step, as a logarithm.
LONGEST = 0.7
# The step at which slopes are measured, and after how many failed tries they are measured anew.
LOOK = 0.3
PATIENCE = 3
# What a parameter raises its own figure by at least, both as logarithms, whatever chance shows.
LEAST_SLOPE = 0.3
LEAST_STEP = 1e-4
# A bound that is no room at all is none.
TINY = 1e-9
# A figure below this part of its target counts as this part.
LEAST = 0.01
# A queue that is fitted to a capture is within this factor of the delay that the capture shows.
QUEUE = 1.5


@dataclass(frozen=True)
class Found:
    """What a search found."""

    model: Model
    parameters: Parameters
    #: How errors change with each parameter, where that was looked for.
    slopes: dict[str, Any]
    #: The runs that it ended with, and their seeds.
    seeds: Sequence[int] = ()
    measured: Measured | None = None


@dataclass(frozen=True)
class Fit:
    """A calibrated link."""

    subject: Subject
    family: Family
    parameters: Parameters
    #: By parameter, the figure that it was fitted to.
    fitted: dict[str, str]
    link: dict[str, Any]
    residuals: list[Residual]
    measured: Measured

    @property
    def missed(self) -> list[str]:
        """The figures that the link does not show."""
        return [one.target.figure for one in self.residuals if not one.is_met]


def fit(
    subject: Subject,
    family: Family | None = None,
    *,
    runs: int = RUNS,
    tries: int = TRIES,
    workers: int = 1,
    progress: Callable[[int, float], None] | None = None,
) -> Fit:
    """Fit a link to a subject; ``progress`` gets the tries so far and the largest error.

    By default it is of the subject's first family.
    """
    model = start.of(subject, family)
    seeds = balanced_seeds(model, runs)
    return judged(searched(model, seeds, tries, workers, progress), seeds, workers)


def balanced_seeds(model: Model, runs: int) -> list[int]:
    """Give seeds of runs: every try meets the same conditions, so differences are parameters'."""
    return balanced(model.link(model.start), runs)


def searched(
    model: Model,
    seeds: Sequence[int],
    tries: int,
    workers: int,
    progress: Callable[[int, float], None] | None = None,
    slopes: dict[str, Any] | None = None,
    measured: Measured | None = None,
) -> Found:
    """Give what was found; the guess, where no figure depends on a parameter.

    ``slopes`` are those of a search like this one, ``measured`` these runs at its start.
    """
    if not model.fitted:
        return Found(model, model.start, {}, seeds, measured)
    best = _search(model, seeds, tries, workers, progress, slopes or {}, measured)
    if not model.subject.is_captured or "queue_ms" not in model.fitted:
        return best
    seen = start.of(model.subject, model.family).start["queue_ms"]
    if not 1 / QUEUE < best.parameters["queue_ms"] / seen < QUEUE:
        # Round trips of the capture bound its queue: the simulated transfer fills another.
        fitted = {name: one for name, one in model.fitted.items() if name != "queue_ms"}
        model = replace(model, start=model.start | {"queue_ms": seen}, fitted=fitted)
        best = _search(model, seeds, tries, workers, progress, {})
    return best


def judged(found: Found, seeds: Sequence[int], workers: int) -> Fit:
    """Measure how accurate the link with what was found is."""
    model, at = found.model, found.parameters
    subject, link = model.subject, model.link(at)
    measured = found.measured
    if measured is None or seeds != found.seeds:
        measured = measure(subject, link, seeds, workers=workers)
    figures = residuals(subject, measured)
    return Fit(subject, model.family, at, model.fitted, link, figures, measured)


def residuals(subject: Subject, measured: Measured) -> list[Residual]:
    """Give every target with the simulated figure."""
    return [
        Residual(one, measured.mean(one.figure), measured.sd(one.figure)) for one in subject.targets
    ]


def _search(
    model: Model,
    seeds: Sequence[int],
    tries: int,
    workers: int,
    progress: Callable[[int, float], None] | None,
    known: dict[str, Any],
    first: Measured | None = None,
) -> Found:
    """Give the best parameters: a secant method for several figures at once (Broyden, 1965).

    Parameters and figures are logarithms, each figure's error in units of what is near enough for
    it, so that where not all can be met the surest are; steps keep to the bounds.
    """
    import numpy as np
    from scipy.optimize import lsq_linear

    names = list(model.searched)
    bounds = [models.BOUNDS[name] for name in names]
    low, high = (np.log([pair[side] for pair in bounds]) for side in (0, 1))
    scales = np.array([_scale(model, figure) for figure in model.figures])

    def parameters(x: Any) -> Parameters:
        return model.start | dict(zip(names, map(float, np.exp(x)), strict=True))

    def meet(x: Any, shown: Measured | None = None) -> tuple[Any, Measured]:
        if shown is None:
            shown = measure(model.subject, model.link(parameters(x)), seeds, workers=workers)
        raw = [_error(model, figure, shown) for figure in model.figures]
        return np.array(raw) / scales, shown

    # A faster link has shorter queues: rates that answer for round trips lower their figure.
    own = [
        (model.figures.index(figure), number)
        for number, (name, figure) in enumerate(model.searched.items())
        if (name, figure) != ("rate_mbps", "rtt")
    ]

    def look(x: Any, error: Any) -> Any:
        sides = np.diag(np.where(x + LOOK < high, LOOK, -LOOK))
        found = np.column_stack([(meet(x + side)[0] - error) / side.sum() for side in sides])
        for row, column in own:
            found[row, column] = max(found[row, column], LEAST_SLOPE / scales[row])
        return found

    x = np.clip(np.log([model.start[name] for name in names]), low, high)
    error, shown = meet(x, first)
    slopes = np.column_stack([known[name] for name in names]) if known else None
    idle, reach = 0, LONGEST
    for number in range(1, tries):
        worst = float(np.max(np.abs(error * scales)))
        if progress is not None:
            progress(number, worst)
        near = worst < ENOUGH if model.subject.is_captured else error @ error < ENOUGH_SQUARED
        if near or idle > 2 * PATIENCE:
            break
        if slopes is None:
            slopes = look(x, error)
        elif idle == PATIENCE:
            slopes, reach, idle = look(x, error), LONGEST / 2, idle + 1
        room = np.maximum(low - x, -reach), np.minimum(high - x, reach)
        # Rather many figures a little off than one too much.
        weights = np.maximum(np.abs(error), 1.0)
        within = (room[0] - TINY, room[1] + TINY)
        step = lsq_linear(slopes * weights[:, None], -error * weights, bounds=within).x
        if step @ step < LEAST_STEP**2:
            break
        new, seen = meet(x + step)
        slopes = slopes + np.outer(new - error - slopes @ step, step) / (step @ step)
        if _size(new) < _size(error):
            x, error, shown = x + step, new, seen
            idle, reach = 0, min(LONGEST, 2 * reach)
        else:
            idle, reach = idle + 1, reach / 2
    columns = {} if slopes is None else dict(zip(names, slopes.T, strict=True))
    return Found(model, parameters(x), columns, seeds, shown)


def _scale(model: Model, figure: str) -> float:
    """Give the logarithmic error of a figure that is just near enough."""
    target = model.subject.target(figure)
    assert target is not None  # noqa: S101 - only those are fitted
    return math.log(LOSS_FACTOR) if figure == "loss" else math.log1p(target.near / target.value)


def _error(model: Model, figure: str, shown: Measured) -> float:
    value = model.subject.value(figure, 1.0)
    mean = shown.mean(figure)
    return math.log(max(mean or 0.0, LEAST * value) / value)


def _size(error: Any) -> float:
    return float((error**4).sum() ** 0.25)
