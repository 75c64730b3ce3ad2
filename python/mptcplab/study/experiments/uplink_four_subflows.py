"""MPTCP over Verizon and AT&T and two server addresses, standing still, upwards and downwards."""

from __future__ import annotations

from mptcplab.study.experiment import Drawing, Experiment, Finding
from mptcplab.study.standing import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.measured import Measured

#: Least of the uplinks' largest segments, to which §3 of the paper sets all.
MSS = {"tcp.mss": "1357 B"}
UP = Place(
    "up",
    "umass-up/3/verizon-att-4",
    {"verizon": "umass-up/1/verizon-lte", "att": "umass-up/1/att-hspa"},
    "40 MB",
    MSS,
)
#: As much as in the earlier report.
DOWN = Place(
    "down",
    "umass-up/text/verizon-att-4-downlink",
    {"verizon": "umass-tr/II/amherst-verizon-lte", "att": "umass-tr/II/amherst-att-hspa"},
    "100 MB",
    MSS,
)


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """Uploads and downloads over both carriers."""
    return {one.name: one.campaign(extent, extent.repetitions(30, 6)) for one in (UP, DOWN)}


def compare(measured: Measured) -> Iterator[Comparison]:
    """Aggregates and subflows."""
    for place in (UP, DOWN):
        yield from place.compare(measured)


EXPERIMENT = Experiment(
    name="uplink-four-subflows",
    title="uploads and downloads over Verizon and AT&T at once, standing",
    reproduces="On Uplink Measurement, table 3 and §4.3",
    on_linux=True,
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "umass-up",
            "§4.3, table 3",
            "Upwards four subflows carry more than the best single path: 25 %.",
            "MPTCP is faster than plain TCP over the best path, run by run; by about as much",
            UP.gains,
            tuple(UP.links.values()),
        ),
        Finding(
            "umass-up",
            "§4.3",
            "Downwards four subflows carry more than the best single path: 8 %.",
            "MPTCP is faster than plain TCP over the best path, run by run; by about as much",
            DOWN.gains,
            tuple(DOWN.links.values()),
        ),
    ),
    drawings=(Drawing("gain-up", "gain", "up"), Drawing("share-up", "share", "up")),
    remarks=(
        "The paper compares its downloads with 7.85 Mbit/s of Verizon alone; the link is "
        "calibrated on the 12.01 of the earlier report.",
    ),
)
