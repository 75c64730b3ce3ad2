"""What a measurement leaves open of a link's parameters: runs differ by it, too."""

from __future__ import annotations

import math

from mptcplab.calibration.model import lost
from mptcplab.calibration.target import rounded
from mptcplab.scenario.draw import MOST_SPREAD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mptcplab.calibration.fit import Fit

# Deviations of six runs are uncertain themselves: nine of ten runs are within so many times more of
# them (Student's t with five degrees of freedom, over the normal distribution).
STUDENT = 2.015 / 1.645
# What losses alone hold goes with the root of their inverse (Mathis et al., 1997): between runs it
# differs by half as much as they do.
MATHIS = 2.0


def widened(fit: Fit, errors: Mapping[str, float]) -> dict[str, Any]:
    """Give the link with draws that spread by the standard errors of figures, too.

    Rates are drawn for throughput, by its printed deviation, too, and losses for loss. Queues are
    not: shorter ones overflow, so that what is lost would be more in the mean. No spread is above
    what a link may have. A link that was fitted with losses drawn keeps them.
    """
    if not fit.subject.draws:
        return fit.link
    others = [one | _widened(fit, one, errors) for one in fit.link.get("alternatives", ())]
    return _widened(fit, fit.link, errors) | ({"alternatives": others} if others else {})


def _widened(fit: Fit, link: dict[str, Any], errors: Mapping[str, float]) -> dict[str, Any]:
    draws = dict(link.get("draw", {}))
    if "rate" in draws and "throughput" in errors:
        draws["rate"] = draws["rate"] | {"spread": _rate_spread(draws, errors)}
    direction = "downlink" if fit.subject.direction == "download" else "uplink"
    of = lost(link[direction], direction)
    if of and "loss" in errors and "loss" not in draws:
        spread = min(errors["loss"], MOST_SPREAD)
        if hangs_on_losses(fit) and "rate" in draws:
            spread = min(spread, MATHIS * draws["rate"]["spread"])
        draws["loss"] = {"of": of, "spread": rounded(spread, 3)}
    return link | ({"draw": draws} if draws else {})


def hangs_on_losses(fit: Fit) -> bool:
    """Say whether losses alone hold the throughput, so that it is drawn where they are.

    Elsewhere a capacity holds it, and losses leave it nearly as it is.
    """
    return fit.subject.draws and fit.family.capacity == "unfilled"


def _rate_spread(draws: dict[str, Any], errors: Mapping[str, float]) -> float | None:
    spread = STUDENT * math.hypot(draws["rate"]["spread"], errors["throughput"])
    return rounded(min(spread, MOST_SPREAD), 3)
