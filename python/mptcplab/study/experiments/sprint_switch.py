"""A drive out of Sprint's WiMAX, whose modem comes back under another public address."""

from __future__ import annotations

from mptcplab.measurements import Figure
from mptcplab.study import comparing, drives, judging, scenes, scoring
from mptcplab.study.experiment import Comparison, Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured

ROW = "umass-tr/9/sprint-4g-to-3g"
WIMAX = "umass-tr/IV/boston-sprint-wimax-mobile"
EVDO = "umass-tr/IV/amherst-sprint-evdo-mobile"
VERIZON = "umass-tr/IV/boston-verizon-lte-mobile"
#: How long the modem takes to start again is not told.
LOST_S, BOOTS_S, END_S = 86, 30, 250


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """WiMAX for 86 s, then nothing, then 3G behind a new public address."""
    link = scenes.profile
    timeline = drives.rebound(LOST_S, "sprint", BOOTS_S, link(EVDO))
    paths = {"verizon": link(VERIZON), "sprint": link(WIMAX)}
    return {
        "main": drives.campaign(
            paths,
            "download",
            extent,
            timeline,
            title="Sprint from WiMAX to EV-DO",
            duration_s=END_S,
        )
    }


def compare(measured: Measured) -> Iterator[Comparison]:
    """What the text says of the time before."""
    sample, today = comparing.samples(measured)
    alone = {"sprint": drives.alone(WIMAX), "verizon": drives.alone(VERIZON)}
    yield Comparison(
        ROW,
        "throughput of sprint before the switch",
        "Mbit/s",
        Figure(3),
        sample.between(0, LOST_S, "sprint"),
        today.between(0, LOST_S, "sprint") if today else (),
        scoring.part(alone, "sprint"),
        (scenes.profile(WIMAX), scenes.profile(VERIZON)),
        remark="printed as about 3",
    )


def _never(measured: Measured) -> Verdict:
    ours = measured.sample().between(LOST_S + 2, END_S, "sprint")
    return judging.below(ours, 0.01, "Sprint afterwards", "Mbit/s")


def _offloaded(measured: Measured) -> Verdict:
    sample = measured.sample()
    after, before = (
        sample.between(*span, "verizon") for span in ((LOST_S + BOOTS_S, END_S), (20, LOST_S))
    )
    return judging.more(after, before, "Verizon afterwards, before", "Mbit/s")


EXPERIMENT = Experiment(
    name="sprint-4g-to-3g",
    title="a drive out of Sprint's WiMAX, whose modem comes back with a new public address",
    reproduces="UM-CS-2012-022, figure 9",
    on_linux=True,
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "umass-tr",
            "§IV-B, figure 9",
            "Sprint's subflows never recover, since the new public address is not known to MPTCP.",
            "they carry less than 0.01 Mbit/s to the end",
            _never,
        ),
        Finding(
            "umass-tr",
            "§IV-B, figure 9",
            "What they carried moves to Verizon's subflows.",
            "Verizon's carry more after than before, run by run",
            _offloaded,
        ),
    ),
    drawings=(Drawing("figure-9", "throughput", "main", of_run=True),),
    remarks=("That the modem takes 30 s to start again is a guess; 250 s are run, not 400 MB.",),
)
