"""The controllers that the papers describe, over the paths of table III."""

from __future__ import annotations

from mptcplab.study import judging, scenes
from mptcplab.study.experiment import Drawing, Experiment, Finding
from mptcplab.study.experiments import eight_subflows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Values, Verdict
    from mptcplab.study.measured import Measured

CONTROLLERS = (
    "reno",
    "ewtcp",
    "lia",
    "fully-coupled",
    "coupled-increase",
    "coupled-decrease",
    "global-window",
    "olia",
)


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """Eight subflows in Boston, with each controller."""
    links = eight_subflows.BOSTON.links
    return {
        "main": scenes.campaign(
            scenes.scenario(links, "download", size="100 MB", addresses=2),
            extent,
            extent.repetitions(20, 4),
            title="controllers over eight subflows in Boston",
            both=scenes.THRESHOLD,
            controlled=True,
            axes={"controller": {"key": "mptcp.congestion_control", "values": list(CONTROLLERS)}},
        )
    }


def compare(_: Measured) -> Iterator[Comparison]:
    """The papers describe them and print nothing of any but LIA."""
    return iter(())


def _rates(measured: Measured, controller: str) -> Values:
    return measured.sample(controller=controller).figure("throughput_mbps")


def _fair(measured: Measured) -> Verdict:
    reno, lia = _rates(measured, "reno"), _rates(measured, "lia")
    return judging.more(reno, lia, "uncoupled Reno, LIA", "Mbit/s")


def _weighted(measured: Measured) -> Verdict:
    reno, ewtcp = _rates(measured, "reno"), _rates(measured, "ewtcp")
    return judging.more(reno, ewtcp, "uncoupled Reno, EWTCP", "Mbit/s")


def _suggested(measured: Measured) -> Verdict:
    increase, fully = (_rates(measured, name) for name in ("coupled-increase", "fully-coupled"))
    return judging.more(increase, fully, "coupled increase, fully coupled", "Mbit/s")


EXPERIMENT = Experiment(
    name="coupled-algorithms",
    title="the controllers that the papers describe, over eight subflows in Boston",
    reproduces="UM-CS-2012-022, §II-B; Multipath TCP in LTE Networks, §2",
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "umass-tr",
            "§II-B",
            "Coupling keeps a connection from taking as much as uncoupled TCPs would.",
            "uncoupled Reno is faster than LIA, run by run",
            _fair,
        ),
        Finding(
            "ctu-lte",
            "§2, algorithm 2",
            "Equally weighted subflows together are gentler than as many TCPs.",
            "uncoupled Reno is faster than EWTCP, run by run",
            _weighted,
        ),
        Finding(
            "umass-tr",
            "§II-B",
            "Of the coupled schemes coupled increase is to be used.",
            "it is faster than the fully coupled one, run by run",
            _suggested,
        ),
    ),
    drawings=(Drawing("times", "boxes", "main", by=("controller",)),),
)
