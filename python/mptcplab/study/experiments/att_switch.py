"""A drive out of AT&T's LTE into its HSPA+, with Verizon's LTE beside it."""

from __future__ import annotations

from mptcplab.study import drives, judging, scenes
from mptcplab.study.experiment import Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured

LTE = "umass-tr/IV/boston-att-lte-mobile"
HSPA = "umass-tr/IV/western-ma-att-hspa-mobile"
VERIZON = "umass-tr/IV/boston-verizon-lte-mobile"
SWITCH_S, SILENT_S, END_S = 157, 5, 300


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """LTE for 157 s, silence for 5 s, HSPA+."""
    link = scenes.profile
    timeline = drives.held(SWITCH_S, "att", SILENT_S, link(HSPA))
    paths = {"verizon": link(VERIZON), "att": link(LTE)}
    return {
        "main": drives.campaign(
            paths, "download", extent, timeline, title="AT&T from LTE to HSPA+", duration_s=END_S
        )
    }


def compare(_: Measured) -> Iterator[Comparison]:
    """Figure 10 prints curves alone."""
    return iter(())


def _resumes(measured: Measured) -> Verdict:
    sample = measured.sample()
    end = SWITCH_S + SILENT_S
    return judging.both(
        judging.below(sample.between(SWITCH_S + 1, end, "att"), 0.05, "AT&T, silent", "Mbit/s"),
        judging.above(sample.between(end, END_S, "att"), 0.2, "AT&T afterwards", "Mbit/s"),
    )


def _goes_on(measured: Measured) -> Verdict:
    ours = measured.sample().between(SWITCH_S, SWITCH_S + SILENT_S)
    return judging.above(ours, 1, "during the switch", "Mbit/s")


EXPERIMENT = Experiment(
    name="att-4g-to-3g",
    title="a drive out of AT&T's LTE into its HSPA+, with Verizon's LTE beside it",
    reproduces="UM-CS-2012-022, figure 10",
    on_linux=True,
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "umass-tr",
            "§IV-B, figure 10",
            "AT&T's subflows are silent for 5 s and go on over HSPA+, with the same addresses.",
            "below 0.05 Mbit/s for the 5 s, above 0.2 Mbit/s afterwards",
            _resumes,
        ),
        Finding(
            "umass-tr",
            "§IV-B",
            "The connection goes on meanwhile over the other carrier.",
            "it has more than 1 Mbit/s during the switch",
            _goes_on,
        ),
    ),
    drawings=(Drawing("figure-10", "throughput", "main", of_run=True),),
    remarks=("The 400 MB of the report would end before the switch in a fast run: 300 s are run.",),
)
