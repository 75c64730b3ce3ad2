"""MPTCP over four interfaces and two server addresses, standing still: eight subflows."""

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

AMHERST, BOSTON = "umass-tr/III/amherst-8", "umass-tr/III/boston-8"
#: Rows of the paths alone, by path; which opened the connection is not told.
PATHS = {
    AMHERST: {
        "verizon": "umass-tr/II/amherst-verizon-lte",
        "att": "umass-tr/II/amherst-att-hspa",
        "sprint": "umass-tr/II/amherst-sprint-evdo",
        "umass": "umass-tr/II/amherst-umass-wifi",
    },
    BOSTON: {
        "verizon": "umass-tr/II/boston-verizon-lte",
        "att": "umass-tr/II/boston-att-lte-adjusted",
        "sprint": "umass-tr/II/boston-sprint-wimax",
        "rcn": "umass-tr/II/boston-rcn-wifi",
    },
}
NAMES = {AMHERST: "amherst", BOSTON: "boston"}


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """A download over all four, at either place."""
    return {
        name: scenes.campaign(
            scenes.scenario(links(row), "download", size=extent.size("100 MB"), addresses=2),
            extent,
            extent.repetitions(30, 6),
            title=f"eight subflows in {name.capitalize()}",
            papers={"mptcp.congestion_control": "lia"},
            both={"tcp.congestion_control": "reno", **scenes.THRESHOLD},
        )
        for row, name in NAMES.items()
    }


def compare(measured: Measured) -> Iterator[Comparison]:
    """Aggregates, carriers, and each subflow."""
    data = measurements.load()
    for row, name in NAMES.items():
        alone = {path: data.single_path[one] for path, one in PATHS[row].items()}
        profiles = tuple(links(row).values())
        yield from comparing.multipath(
            data.multipath[row], measured, alone, campaign=name, profiles=profiles
        )


def links(row: str) -> dict[str, str]:
    """Give the link of each path."""
    return {path: scenes.profile(alone) for path, alone in PATHS[row].items()}


def _gains(measured: Measured, row: str) -> Verdict:
    sample = measured.sample(NAMES[row])
    return judging.more(
        sample.figure("throughput_mbps"), sample.best_alone(), "MPTCP, best alone", "Mbit/s"
    )


def _wifi_most(measured: Measured) -> Verdict:
    sample = measured.sample(NAMES[AMHERST])
    return judging.more(sample.path("umass"), sample.path("verizon"), "Wi-Fi, Verizon", "Mbit/s")


def _wifi_shorter(measured: Measured) -> Verdict:
    sample = measured.sample(NAMES[AMHERST])
    alone = sample.alone("umass", "rtt_ms_mean")
    return judging.more(alone, sample.subflow("umass", 1, "rtt_ms_mean"), "alone, in MPTCP", "ms")


EXPERIMENT = Experiment(
    name="eight-subflows",
    title="downloads over three carriers and Wi-Fi at once, standing in Amherst and in Boston",
    reproduces="UM-CS-2012-022, table III",
    kernel=True,
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "umass-tr",
            "§IV-A, table III",
            "In Amherst eight subflows carry more than the best single path: 7 %.",
            "MPTCP is faster than plain TCP over the best path, run by run",
            lambda measured: _gains(measured, AMHERST),
            tuple(links(AMHERST).values()),
        ),
        Finding(
            "umass-tr",
            "§IV-A, table III",
            "In Boston eight subflows carry more than the best single path: 5.25 %.",
            "MPTCP is faster than plain TCP over the best path, run by run",
            lambda measured: _gains(measured, BOSTON),
            tuple(links(BOSTON).values()),
        ),
        Finding(
            "umass-tr",
            "table III",
            "In Amherst Wi-Fi carries more than any carrier.",
            "Wi-Fi's two subflows carry more than Verizon's two",
            _wifi_most,
            tuple(links(AMHERST).values()),
        ),
        Finding(
            "umass-tr",
            "tables II and III",
            "Wi-Fi's round trips are shorter within MPTCP than of TCP alone: 17 ms against 40 ms.",
            "the mean RTT of Wi-Fi's first subflow is below that of plain TCP over Wi-Fi",
            _wifi_shorter,
            tuple(links(AMHERST).values()),
        ),
    ),
    drawings=(
        Drawing("shares-amherst", "share", "amherst"),
        Drawing("gain-amherst", "gain", "amherst"),
        Drawing("gain-boston", "gain", "boston"),
    ),
)
