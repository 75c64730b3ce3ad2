"""What a measurement leaves open of a link's parameters: runs differ by it, too."""

from __future__ import annotations

import math

from mptcplab.calibration.target import rounded
from mptcplab.scenario.draw import MOST_SPREAD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from mptcplab.calibration.fit import Fit

# Deviations of six runs are uncertain themselves: nine of ten runs are within so many times more of
# them (Student's t with five degrees of freedom, over the normal distribution).
STUDENT = 2.015 / 1.645
# Keys of elements that answer for losses.
LOSSES = {"loss": "ratio", "gilbert-elliott-time": "bad_time"}


def widened(fit: Fit, errors: Mapping[str, float]) -> dict[str, Any]:
    """Give the link with draws that spread by the standard errors of figures, too.

    Rates are drawn for throughput, by its printed deviation, too, and losses for loss. Queues are
    not: shorter ones overflow, so that what is lost would be more in the mean. No spread is above
    what a link may have.
    """
    if not fit.subject.draws:
        return fit.link
    draws = dict(fit.link.get("draw", {}))
    if "rate" in draws and "throughput" in errors:
        spread = STUDENT * math.hypot(draws["rate"]["spread"], errors["throughput"])
        draws["rate"] = draws["rate"] | {"spread": rounded(min(spread, MOST_SPREAD), 3)}
    of = list(_losses(fit))
    if of and "loss" in errors:
        draws["loss"] = {"of": of, "spread": rounded(min(errors["loss"], MOST_SPREAD), 3)}
    return fit.link | ({"draw": draws} if draws else {})


def _losses(fit: Fit) -> Iterator[str]:
    direction = "downlink" if fit.subject.direction == "download" else "uplink"
    for number, one in enumerate(fit.link[direction]):
        key = LOSSES.get(one.get("element"))
        if key is not None:
            yield f"{direction}.{number}.{key}"
