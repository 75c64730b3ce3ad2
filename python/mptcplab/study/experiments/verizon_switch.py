"""A drive out of Verizon's LTE into its 3G, with AT&T beside it and Wi-Fi at the start."""

from __future__ import annotations

from mptcplab import measurements
from mptcplab.study import drives, judging, scenes
from mptcplab.study.experiment import Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured

ROW = "umass-tr/V/verizon-4g-to-3g"
LTE, LTE_MOVING = "umass-tr/II/amherst-verizon-lte", "umass-tr/IV/amherst-verizon-lte-mobile"
EHRPD = "umass-tr/II/sunderland-verizon-ehrpd"
EHRPD_MOVING = "umass-tr/IV/sunderland-verizon-ehrpd-mobile"
HSPA, HSPA_MOVING = "umass-tr/II/amherst-att-hspa", "umass-tr/IV/western-ma-att-hspa-mobile"
WIFI = "umass-tr/II/amherst-umass-wifi"
#: Table V: seconds at which it drove off, lost LTE, had 3G, and stood again, and at which it ended.
LEAVES_S, LOSES_S, HAS_S, STANDS_S, END_S = 30, 375, 385, 590, 675
#: Rows of the paths in each phase of the table.
PHASES = (
    (LTE, HSPA, WIFI),
    (LTE_MOVING, HSPA_MOVING),
    (LTE_MOVING, HSPA_MOVING),
    (HSPA_MOVING,),
    (EHRPD_MOVING, HSPA_MOVING),
    (EHRPD, HSPA),
    (),
)


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """The schedule of table V; Wi-Fi breaks when the car leaves."""
    link = scenes.profile
    timeline = drives.in_order(
        drives.gone(LEAVES_S, "umass"),
        drives.becomes(LEAVES_S, "verizon", link(LTE_MOVING)),
        drives.becomes(LEAVES_S, "att", link(HSPA_MOVING)),
        drives.held(LOSES_S, "verizon", HAS_S - LOSES_S, link(EHRPD_MOVING)),
        drives.becomes(STANDS_S, "verizon", link(EHRPD)),
        drives.becomes(STANDS_S, "att", link(HSPA)),
    )
    paths = {"verizon": link(LTE), "att": link(HSPA), "umass": link(WIFI)}
    return {
        "main": drives.campaign(
            paths, "download", extent, timeline, title="Verizon from LTE to 3G", duration_s=END_S
        )
    }


def compare(measured: Measured) -> Iterator[Comparison]:
    """Every phase of table V."""
    alone = [{row: drives.alone(row) for row in rows} for rows in PHASES]
    links = [tuple(map(scenes.profile, rows)) for rows in PHASES]
    return drives.phases(measurements.load().mobile[ROW], measured, alone, END_S, links)


def _better(measured: Measured, start_s: float, end_s: float, row: str, printed: float) -> Verdict:
    ours = measured.sample().between(start_s, end_s)
    words = f"{start_s:g} to {end_s:g} s"
    more = judging.above(ours, drives.alone(row), words, "Mbit/s")
    return judging.sized(more, ours, printed, "it has", "Mbit/s")


def _silent(measured: Measured) -> Verdict:
    sample = measured.sample()
    return judging.both(
        judging.below(sample.between(LOSES_S + 1, HAS_S, "verizon"), 0.05, "Verizon", "Mbit/s"),
        judging.above(sample.between(LOSES_S, HAS_S), 1, "connection", "Mbit/s"),
    )


def _resumes(measured: Measured) -> Verdict:
    sample = measured.sample()
    return judging.above(sample.between(HAS_S, STANDS_S, "verizon"), 0.2, "Verizon on 3G", "Mbit/s")


EXPERIMENT = Experiment(
    name="verizon-4g-to-3g",
    title="a drive out of Verizon's LTE into its 3G, with AT&T and, at the start, Wi-Fi",
    reproduces="UM-CS-2012-022, table V, figures 7 and 8",
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "umass-tr",
            "§IV-B",
            "In the 4G zone MPTCP has more than the best single path: 10.48 against 7.79 Mbit/s.",
            "it has more than 7.79 Mbit/s from 60 to 375 s",
            lambda measured: _better(measured, 60, LOSES_S, LTE_MOVING, 10.48),
        ),
        Finding(
            "umass-tr",
            "§IV-B",
            "In the 3G zone it has more than the best single path: 5.30 against 3.47 Mbit/s.",
            "it has more than 3.47 Mbit/s from 385 to 590 s",
            lambda measured: _better(measured, HAS_S, STANDS_S, HSPA_MOVING, 5.30),
        ),
        Finding(
            "umass-tr",
            "table V, figure 7",
            "During the switch Verizon's subflows carry nothing and the connection goes on.",
            "Verizon below 0.05, the connection above 1 Mbit/s",
            _silent,
        ),
        Finding(
            "umass-tr",
            "§IV-B",
            "After the switch Verizon's subflows resume over 3G, with the same addresses.",
            "they carry more than 0.2 Mbit/s from 385 to 590 s",
            _resumes,
        ),
    ),
    drawings=(Drawing("figure-7-8", "throughput", "main", of_run=True),),
    remarks=(
        "How much data there was is not set: the drive lasts as long as table V. How the signal "
        "faded is not known; links change at once.",
    ),
)
