"""A drive over the campus, past Wi-Fi that comes and goes."""

from __future__ import annotations

from mptcplab.measurements import load
from mptcplab.study import drives, judging, scenes, scoring
from mptcplab.study.experiment import Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured

ROW = "umass-tr/11/campus-intermittent-wifi"
VERIZON = "umass-tr/IV/amherst-verizon-lte-mobile"
HSPA = "umass-tr/IV/western-ma-att-hspa-mobile"
WIFI = "wifi-campus-moving"
#: Figure 11: hotspots at the start, at 130 s and at 200 s; how long each lasted is read as 20 s.
LEAVES_S, VISITS_S, STAYS_S = 60, (130, 200), 20
#: A visit counts as used if so much passes over a subflow in it.
USED_BYTES = 50_000


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """300 MB over Verizon, AT&T and Wi-Fi that is there three times, and nobody is told."""
    absences = [LEAVES_S, *(visit + STAYS_S for visit in VISITS_S)]
    returns = [*VISITS_S, None]
    timeline = drives.in_order(
        *(drives.gone(*one) for one in _spans("umass", absences, returns)),
    )
    paths = {
        "umass": WIFI,
        "verizon": scenes.profile(VERIZON),
        "att": scenes.profile(HSPA),
    }
    return {
        "main": drives.campaign(
            paths,
            "download",
            extent,
            timeline,
            title="a campus with intermittent Wi-Fi",
            size="300 MB",
        )
    }


def _spans(
    path: str, absences: list[int], returns: list[int | None]
) -> Iterator[tuple[float, str, float | None]]:
    for leaves, comes in zip(absences, returns, strict=True):
        yield leaves, path, comes


def compare(measured: Measured) -> Iterator[Comparison]:
    """The average over the drive."""
    row = load().mobile[ROW]
    best = float(row.best_single_path["throughput"])
    yield drives.whole(row, measured, dict.fromkeys((scoring.BEST, scoring.EQUAL), best))


def _better(measured: Measured) -> Verdict:
    ours = measured.sample().figure("throughput_mbps")
    more = judging.above(ours, drives.alone(VERIZON), "over the drive", "Mbit/s")
    return judging.sized(more, ours, 8.96, "it has", "Mbit/s")


def _missed(measured: Measured) -> Verdict:
    """Count the subflows that let a visit pass by."""
    sample = measured.sample()
    missed: list[bool | None] = []
    for run in sample.runs["run"]:
        used = [
            sample.carried(run, visit, visit + STAYS_S, "umass", number) > USED_BYTES
            for visit in VISITS_S
            for number in (1, 2)
        ]
        missed.append(not all(used))
    return judging.in_most(missed, "a subflow missed a visit")


EXPERIMENT = Experiment(
    name="campus-drive",
    title="a drive over the campus, past Wi-Fi that comes and goes",
    reproduces="UM-CS-2012-022, figure 11",
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "umass-tr",
            "§IV-B, figure 11",
            "MPTCP has more than the best single path: 8.96 against 7.79 Mbit/s.",
            "it has more than 7.79 Mbit/s, by about as much",
            _better,
        ),
        Finding(
            "umass-tr",
            "§IV-B, figure 11",
            "Subflows miss visits to Wi-Fi: their retransmission timers have backed off too far.",
            "in most runs some subflow carries less than 50 kB in a visit of 20 s",
            _missed,
            # Timers decide that, whatever the link can do.
            (),
        ),
    ),
    drawings=(Drawing("figure-11", "throughput", "main", of_run=True),),
    remarks=(
        "How fast Wi-Fi is from a moving car was not measured alone, nor how long it was there.",
    ),
)
