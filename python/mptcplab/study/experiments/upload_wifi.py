"""An upload on the move, past Wi-Fi that comes and goes."""

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

WIFI = "wifi-campus-upload"
ROWS = {"verizon": "umass-up/1/verizon-lte-mobile", "att": "umass-up/1/att-hspa-mobile"}
#: Figure 4: Wi-Fi is back at 85 s and gone at 130 s; that it was first lost at 20 s is a guess.
LOST_S, BACK_S, GONE_S, END_S = 20, 85, 130, 200


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """Six subflows."""
    timeline = drives.in_order(drives.gone(LOST_S, "wifi", BACK_S), drives.gone(GONE_S, "wifi"))
    paths = {"wifi": WIFI} | {path: scenes.profile(row) for path, row in ROWS.items()}
    return {
        "main": drives.campaign(
            paths,
            "upload",
            extent,
            timeline,
            title="uploads with intermittent Wi-Fi",
            duration_s=END_S,
        )
    }


def compare(_: Measured) -> Iterator[Comparison]:
    """Figure 4 prints curves alone."""
    return iter(())


def _used(measured: Measured) -> Verdict:
    sample = measured.sample()
    return judging.above(sample.between(BACK_S, GONE_S, "wifi"), 0.2, "Wi-Fi's visit", "Mbit/s")


def _goes_on(measured: Measured) -> Verdict:
    sample = measured.sample()
    return judging.both(
        judging.above(sample.between(LOST_S + 5, BACK_S), 1, "between the visits", "Mbit/s"),
        judging.above(sample.between(GONE_S + 5, END_S), 1, "after the last", "Mbit/s"),
    )


EXPERIMENT = Experiment(
    name="upload-intermittent-wifi",
    title="an upload on the move over two carriers, past Wi-Fi that comes and goes",
    reproduces="On Uplink Measurement, figure 4",
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "umass-up",
            "§4.3, figure 4",
            "When there is Wi-Fi again it is used again.",
            "its subflows carry more than 0.2 Mbit/s from 85 to 130 s",
            _used,
        ),
        Finding(
            "umass-up",
            "§4.3, figure 4",
            "While there is no Wi-Fi the connection goes on over the carriers.",
            "it has more than 1 Mbit/s",
            _goes_on,
            tuple(map(scenes.profile, ROWS.values())),
        ),
    ),
    drawings=(Drawing("figure-4", "throughput", "main", of_run=True),),
)
