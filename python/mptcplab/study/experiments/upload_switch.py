"""An upload on a drive out of Verizon's LTE into its 3G, with AT&T beside it."""

from __future__ import annotations

from mptcplab.measurements import load
from mptcplab.study import drives, judging, scenes
from mptcplab.study.experiment import Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured

ROW = "umass-up/5/4g-to-3g-upload"
LTE, EHRPD = "umass-up/1/verizon-lte-mobile", "umass-up/1/verizon-ehrpd-mobile"
HSPA = "umass-up/1/att-hspa-mobile"
#: Figure 5: LTE until 135 s, 3G from 300 s; what was between is not told and is 3G here.
SWITCH_S, SILENT_S, SECOND_S, END_S = 135, 5, 300, 420


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """Four subflows."""
    timeline = drives.held(SWITCH_S, "verizon", SILENT_S, scenes.profile(EHRPD))
    paths = {"verizon": scenes.profile(LTE), "att": scenes.profile(HSPA)}
    return {
        "main": drives.campaign(
            paths, "upload", extent, timeline, title="uploads from LTE to 3G", duration_s=END_S
        )
    }


def compare(measured: Measured) -> Iterator[Comparison]:
    """Both phases."""
    phases = ((LTE, HSPA), (EHRPD, HSPA))
    alone = [{row: drives.alone(row) for row in rows} for rows in phases]
    links = [tuple(map(scenes.profile, rows)) for rows in phases]
    return drives.phases(load().mobile[ROW], measured, alone, END_S, links)


def _better(measured: Measured, phase: int) -> Verdict:
    printed = load().mobile[ROW].phases[phase]
    assert printed.best_single_path is not None  # noqa: S101 - the row prints it
    ours = measured.sample().between(printed.start_s, min(printed.end_s, END_S))
    more = judging.above(ours, printed.best_single_path, printed.what, "Mbit/s")
    return judging.sized(more, ours, printed.throughput, "it has", "Mbit/s")


def _silent(measured: Measured) -> Verdict:
    end = SWITCH_S + SILENT_S
    ours = measured.sample().between(SWITCH_S + 1, end)
    return judging.above(ours, 0.3, "during the switch", "Mbit/s")


EXPERIMENT = Experiment(
    name="upload-4g-to-3g",
    title="an upload on a drive out of Verizon's LTE into its 3G, with AT&T beside it",
    reproduces="On Uplink Measurement, figure 5",
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "umass-up",
            "§4.3, figure 5",
            "In 4G MPTCP has more than the best single path: 5.64 against 4.34 Mbit/s.",
            "it has more than 4.34 Mbit/s until 135 s",
            lambda measured: _better(measured, 0),
        ),
        Finding(
            "umass-up",
            "§4.3, figure 5",
            "In 3G it has more than the best single path: 2.09 against 0.91 Mbit/s.",
            "it has more than 0.91 Mbit/s from 300 s on",
            lambda measured: _better(measured, 1),
        ),
        Finding(
            "umass-up",
            "§4.3, figure 5",
            "While Verizon is silent the connection goes on.",
            "it has more than 0.3 Mbit/s",
            _silent,
        ),
    ),
    drawings=(Drawing("figure-5", "throughput", "main", of_run=True),),
)
