"""Small downloads whose subflows are opened at once, or one after the other."""

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

SIZES = ("64 kB", "512 kB", "2 MB")
#: The last label at the axis of figure 8, not data.
MOST_S = 1.5


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """Both ways to join."""
    return {
        "main": imc.campaign(
            extent,
            extent.repetitions(50, 15),
            "simultaneous and delayed SYNs",
            SIZES,
            controllers=("lia",),
            addresses=(1,),
            joins=("specified", "simultaneous"),
        )
    }


def compare(_: Measured) -> Iterator[Comparison]:
    """Figure 8 prints curves alone."""
    return iter(())


def _times(measured: Measured, join: str, size: str) -> list[float | None]:
    sample = measured.sample(size=size, controller="lia", subflows="MP-2", join=join)
    return sample.figure("elapsed_s")


def _sooner(measured: Measured) -> Verdict:
    delayed, simultaneous = (
        _times(measured, join, "512 kB") for join in ("specified", "simultaneous")
    )
    return judging.more(delayed, simultaneous, "512 kB, delayed and simultaneous", "s")


def _short(measured: Measured) -> Verdict:
    times = _times(measured, "specified", "2 MB")
    return judging.below(times, MOST_S, "2 MB, delayed", "s")


EXPERIMENT = Experiment(
    name="simultaneous-syn",
    title="small downloads whose subflows are opened at once, or one after the other",
    reproduces="IMC 2013, figure 8",
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            imc.PAPER,
            "figure 8",
            "With simultaneous SYNs small downloads are over sooner.",
            "512 kB take longer with delayed SYNs, run by run",
            _sooner,
        ),
        Finding(
            imc.PAPER,
            "figure 8",
            "The times of small downloads are drawn on an axis labelled up to 1.5 s.",
            "2 MB take less than 1.5 s in the mean",
            _short,
            unprinted="1.5 s is a label of the axis: no time is printed",
        ),
    ),
    remarks=("Which sizes figure 8 is of is not known here: 64 kB, 512 kB and 2 MB are a guess.",),
    drawings=(Drawing("figure-8", "boxes", "main", by=("size", "join")),),
)
