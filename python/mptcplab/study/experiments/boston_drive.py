"""A drive through Boston over three carriers' 4G and Wi-Fi that comes and goes."""

from __future__ import annotations

from mptcplab.measurements import load
from mptcplab.study import comparing, drives, judging, scenes, scoring
from mptcplab.study.experiment import Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured

ROW = "umass-tr/12/boston-all-4g"
ROWS = {
    "verizon": "umass-tr/IV/boston-verizon-lte-mobile",
    "att": "umass-tr/IV/boston-att-lte-mobile",
    "sprint": "umass-tr/IV/boston-sprint-wimax-mobile",
}
WIFI = "wifi-campus-moving"
#: When Wi-Fi is there is not told: at the start, and for 20 s of every 120.
LEAVES_S, EVERY_S, STAYS_S, LONGEST_S = 30, 120, 20, 600


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """800 MB over four paths."""
    returns = range(EVERY_S, LONGEST_S, EVERY_S)
    timeline = drives.in_order(
        drives.gone(LEAVES_S, "wifi", EVERY_S),
        *(drives.gone(at + STAYS_S, "wifi", at + EVERY_S) for at in returns),
    )
    paths = {path: scenes.profile(row) for path, row in ROWS.items()} | {"wifi": WIFI}
    return {
        "main": drives.campaign(
            paths,
            "download",
            extent,
            timeline,
            title="Boston over three carriers' 4G",
            size="800 MB",
            baselines=True,
        )
    }


def compare(measured: Measured) -> Iterator[Comparison]:
    """The average over the drive."""
    row = load().mobile[ROW]
    sample, today = comparing.samples(measured)
    alone = [drives.alone(one) for one in ROWS.values()]
    yield drives.whole(row, measured, scoring.aggregate(alone))
    assert row.gain_percent is not None  # noqa: S101 - the row prints it
    yield comparing.gain(ROW, row.gain_percent, sample, today, sum(alone) / max(alone))


def _gains(measured: Measured) -> Verdict:
    sample = measured.sample()
    ours, alone = sample.figure("throughput_mbps"), sample.alone("att")
    return judging.sized(
        judging.more(ours, alone, "MPTCP, AT&T's LTE alone", "Mbit/s"),
        judging.Ratio(ours, alone),
        1.14,
        "the ratio",
    )


EXPERIMENT = Experiment(
    name="boston-drive",
    title="a drive through Boston over three carriers' 4G and Wi-Fi that comes and goes",
    reproduces="UM-CS-2012-022, figure 12",
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "umass-tr",
            "§IV-B, figure 12",
            "Eight subflows have 14 % more than the best single path, AT&T's LTE.",
            "MPTCP is faster than plain TCP over AT&T, run by run",
            _gains,
        ),
    ),
    drawings=(Drawing("figure-12", "throughput", "main", of_run=True),),
    remarks=("When there was Wi-Fi is not told: 20 s of every 120 are a guess.",),
)
