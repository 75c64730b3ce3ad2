"""MPTCP over Verizon and AT&T and two server addresses, standing still, upwards and downwards."""

from __future__ import annotations

from mptcplab.study import comparing, judging, measurements, scenes
from mptcplab.study.experiment import Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured

UP, DOWN = "umass-up/3/verizon-att-4", "umass-up/text/verizon-att-4-downlink"
PATHS = {
    UP: {"verizon": "umass-up/1/verizon-lte", "att": "umass-up/1/att-hspa"},
    DOWN: {"verizon": "umass-tr/II/amherst-verizon-lte", "att": "umass-tr/II/amherst-att-hspa"},
}
NAMES = {UP: "up", DOWN: "down"}
#: Least of the uplinks' largest segments, to which §3 of the paper sets all.
MSS = {"tcp.mss": "1357 B"}


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """Uploads of 40 MB, and downloads of as much as in the earlier report."""
    return {
        NAMES[row]: scenes.campaign(
            scenes.scenario(_links(row), direction, size=extent.size(size), addresses=2),
            extent,
            extent.repetitions(30, 6),
            title=f"four subflows, {direction}s",
            papers={"mptcp.congestion_control": "lia"},
            both={"tcp.congestion_control": "reno", **scenes.THRESHOLD, **MSS},
        )
        for row, direction, size in ((UP, "upload", "40 MB"), (DOWN, "download", "100 MB"))
    }


def compare(measured: Measured) -> Iterator[Comparison]:
    """Aggregates and subflows."""
    data = measurements.load()
    for row, name in NAMES.items():
        alone = {path: data.single_path[one] for path, one in PATHS[row].items()}
        profiles = tuple(_links(row).values())
        yield from comparing.multipath(
            data.multipath[row], measured, alone, campaign=name, profiles=profiles
        )


def _links(row: str) -> dict[str, str]:
    return {path: scenes.profile(alone) for path, alone in PATHS[row].items()}


def _gains(measured: Measured, name: str) -> Verdict:
    sample = measured.sample(name)
    return judging.more(
        sample.figure("throughput_mbps"), sample.best_alone(), "MPTCP, best alone", "Mbit/s"
    )


EXPERIMENT = Experiment(
    name="uplink-four-subflows",
    title="uploads and downloads over Verizon and AT&T at once, standing",
    reproduces="On Uplink Measurement, table 3 and §4.3",
    kernel=True,
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "umass-up",
            "§4.3, table 3",
            "Upwards four subflows carry more than the best single path: 25 %.",
            "MPTCP is faster than plain TCP over the best path, run by run",
            lambda measured: _gains(measured, "up"),
            tuple(_links(UP).values()),
        ),
        Finding(
            "umass-up",
            "§4.3",
            "Downwards four subflows carry more than the best single path: 8 %.",
            "MPTCP is faster than plain TCP over the best path, run by run",
            lambda measured: _gains(measured, "down"),
            tuple(_links(DOWN).values()),
        ),
    ),
    drawings=(Drawing("gain-up", "gain", "up"), Drawing("share-up", "share", "up")),
    remarks=(
        "The paper compares its downloads with 7.85 Mbit/s of Verizon alone; the link is "
        "calibrated on the 12.01 of the earlier report.",
    ),
)
