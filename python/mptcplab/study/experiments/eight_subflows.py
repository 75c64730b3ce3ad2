"""MPTCP over four interfaces and two server addresses, standing still: eight subflows."""

from __future__ import annotations

from mptcplab.study import judging
from mptcplab.study.experiment import Drawing, Experiment, Finding
from mptcplab.study.standing import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured

AMHERST = Place(
    "amherst",
    "umass-tr/III/amherst-8",
    {
        "verizon": "umass-tr/II/amherst-verizon-lte",
        "att": "umass-tr/II/amherst-att-hspa",
        "sprint": "umass-tr/II/amherst-sprint-evdo",
        "umass": "umass-tr/II/amherst-umass-wifi",
    },
)
BOSTON = Place(
    "boston",
    "umass-tr/III/boston-8",
    {
        "verizon": "umass-tr/II/boston-verizon-lte",
        "att": "umass-tr/II/boston-att-lte-adjusted",
        "sprint": "umass-tr/II/boston-sprint-wimax",
        "rcn": "umass-tr/II/boston-rcn-wifi",
    },
)
PLACES = (AMHERST, BOSTON)


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """A download over all four, at either place."""
    return {one.name: one.campaign(extent, extent.repetitions(30, 6)) for one in PLACES}


def compare(measured: Measured) -> Iterator[Comparison]:
    """Aggregates, carriers, and each subflow."""
    for place in PLACES:
        yield from place.compare(measured)


def _wifi_most(measured: Measured) -> Verdict:
    sample = measured.sample(AMHERST.name)
    wifi, verizon = sample.path("umass"), sample.path("verizon")
    more = judging.more(wifi, verizon, "Wi-Fi, Verizon", "Mbit/s")
    return judging.sized(more, judging.Ratio(wifi, verizon), 12.19 / 4.41, "the ratio")


def _wifi_shorter(measured: Measured) -> Verdict:
    sample = measured.sample(AMHERST.name)
    alone, within = sample.alone("umass", "rtt_ms_mean"), sample.subflow("umass", 1, "rtt_ms_mean")
    shorter = judging.more(alone, within, "alone, in MPTCP", "ms")
    return judging.sized(shorter, within, 17.20, "in MPTCP", "ms")


EXPERIMENT = Experiment(
    name="eight-subflows",
    title="downloads over three carriers and Wi-Fi at once, standing in Amherst and in Boston",
    reproduces="UM-CS-2012-022, table III",
    on_linux=True,
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "umass-tr",
            "§IV-A, table III",
            "In Amherst eight subflows carry more than the best single path: 7 %.",
            "MPTCP is faster than plain TCP over the best path, run by run; by about as much",
            AMHERST.gains,
            tuple(AMHERST.links.values()),
        ),
        Finding(
            "umass-tr",
            "§IV-A, table III",
            "In Boston eight subflows carry more than the best single path: 5.25 %.",
            "MPTCP is faster than plain TCP over the best path, run by run; by about as much",
            BOSTON.gains,
            tuple(BOSTON.links.values()),
        ),
        Finding(
            "umass-tr",
            "table III",
            "In Amherst Wi-Fi carries more than any carrier.",
            "Wi-Fi's two subflows carry more than Verizon's two",
            _wifi_most,
            tuple(AMHERST.links.values()),
        ),
        Finding(
            "umass-tr",
            "tables II and III",
            "Wi-Fi's round trips are shorter within MPTCP than of TCP alone: 17 ms against 40 ms.",
            "the mean RTT of Wi-Fi's first subflow is below that of plain TCP over Wi-Fi",
            _wifi_shorter,
            tuple(AMHERST.links.values()),
        ),
    ),
    drawings=(
        Drawing("shares-amherst", "share", "amherst"),
        Drawing("gain-amherst", "gain", "amherst"),
        Drawing("gain-boston", "gain", "boston"),
    ),
)
