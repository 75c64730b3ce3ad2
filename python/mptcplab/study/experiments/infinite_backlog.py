"""Downloads of 512 MB, which never leave congestion avoidance."""

from __future__ import annotations

from mptcplab.study import imc, judging
from mptcplab.study.experiment import Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured

SIZE = "512 MB"
#: Labels at the axis of figure 11, not data.
LEAST_S, MOST_S = 300, 550


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """MP-2 and MP-4, LIA and Reno."""
    repetitions = extent.repetitions(20, 4)
    title = "downloads of 512 MB"
    return {"main": imc.campaign(extent, repetitions, title, (SIZE,), controllers=("lia", "reno"))}


def compare(_: Measured) -> Iterator[Comparison]:
    """Figure 11 prints boxes alone."""
    return iter(())


def _times(measured: Measured, controller: str, subflows: str) -> list[float | None]:
    sample = measured.sample(size=SIZE, controller=controller, subflows=subflows)
    return sample.figure("elapsed_s")


def _within(measured: Measured) -> Verdict:
    verdicts = []
    for controller in ("lia", "reno"):
        for subflows in ("MP-2", "MP-4"):
            times = _times(measured, controller, subflows)
            words = f"{subflows} {controller}"
            verdicts += [
                judging.above(times, LEAST_S, words, "s"),
                judging.below(times, MOST_S, words, "s"),
            ]
    return judging.both(*verdicts)


EXPERIMENT = Experiment(
    name="infinite-backlog",
    title="downloads of 512 MB over home Wi-Fi and AT&T's LTE: MP-2, MP-4 × LIA, Reno",
    reproduces="IMC 2013, figure 11",
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            imc.PAPER,
            "figure 11",
            "The times of such downloads are drawn on an axis labelled 300 to 550 s.",
            "the mean of each configuration lies between those labels",
            _within,
            unprinted="300 to 550 s are labels of the axis: no time is printed",
        ),
    ),
    remarks=(imc.RATES,),
    drawings=(Drawing("figure-11", "boxes", "main", by=("controller", "subflows")),),
)
