"""Carriers forget flows that are idle: what that does to a connection that pauses."""

from __future__ import annotations

from mptcplab import measurements
from mptcplab.study import judging, scenes
from mptcplab.study.experiment import Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Values, Verdict
    from mptcplab.study.measured import Measured

ROWS = {
    "verizon": "umass-tr/II/boston-verizon-lte",
    "att": "umass-tr/II/boston-att-lte-adjusted",
}
LINKS = {path: scenes.profile(row) for path, row in ROWS.items()}
#: Names of table VI.
TIMEOUTS = {"verizon": "verizon-lte", "att": "att-lte"}
#: Longer than AT&T remembers, and not as long as Verizon does.
PAUSE_S = 600
#: Shorter than either remembers.
OFTEN = "2 min"
KEEP_ALIVES = {
    "none": {},
    "often": {"tcp.keep_alive_idle": OFTEN, "tcp.keep_alive_interval": OFTEN},
}


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """Two answers with ten minutes between them, with keep-alives and without."""
    minutes = measurements.load().findings["carrier_timeouts_minutes"]
    scene = scenes.scenario(LINKS, "download", size="4 MB")
    scene["transfer"] = {
        "application": "request-response",
        "direction": "download",
        "request": "200 B",
        "response": "4 MB",
        "requests": 2,
        "think": f"{PAUSE_S} s",
    }
    for path, name in TIMEOUTS.items():
        firewall = {"element": "firewall", "idle": f"{minutes[name]} min"}
        scene["link"][path]["middleboxes"] = [firewall]
    return {
        "main": scenes.campaign(
            scene,
            extent,
            extent.repetitions(30, 6),
            title="a pause of ten minutes",
            both=scenes.THRESHOLD,
            baselines=False,
            axes={"keep-alives": {"points": KEEP_ALIVES}},
            tables=["throughput"],
        )
    }


def compare(_: Measured) -> Iterator[Comparison]:
    """Table VI is what the links do, and not predicted."""
    return iter(())


def _after(measured: Measured, keep_alives: str, path: str) -> Values:
    sample = measured.sample(**{"keep-alives": keep_alives})
    return sample.between(PAUSE_S, PAUSE_S + 120, path)


def _forgotten(measured: Measured) -> Verdict:
    return judging.both(
        judging.below(_after(measured, "none", "att"), 0.01, "AT&T after the pause", "Mbit/s"),
        judging.above(_after(measured, "none", "verizon"), 0.5, "Verizon", "Mbit/s"),
    )


def _kept(measured: Measured) -> Verdict:
    ours = _after(measured, "often", "att")
    return judging.above(ours, 0.5, "AT&T after the pause, with keep-alives", "Mbit/s")


def _costs(measured: Measured) -> Verdict:
    without, with_them = (
        measured.sample(**{"keep-alives": one}).figure("elapsed_s") for one in KEEP_ALIVES
    )
    return judging.more(without, with_them, "until the second answer is there, without, with", "s")


EXPERIMENT = Experiment(
    name="idle-timeouts",
    title="a connection that pauses for ten minutes over carriers that forget idle flows",
    reproduces="UM-CS-2012-022, §IV-C.2, table VI",
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "umass-tr",
            "§IV-C, table VI",
            "AT&T forgets a flow after 3 minutes, which nobody is told; Verizon's goes on.",
            "after ten minutes AT&T carries below 0.01 Mbit/s, Verizon more than 0.5",
            _forgotten,
        ),
        Finding(
            "umass-tr",
            "§IV-C",
            "Keep-alives more often than that keep the flow.",
            "with one every 2 minutes AT&T carries more than 0.5 Mbit/s after the pause",
            _kept,
        ),
        Finding(
            "umass-tr",
            "§IV-C",
            "Such a flow that is gone costs time.",
            "without keep-alives the second answer takes longer, run by run",
            _costs,
        ),
    ),
    drawings=(
        Drawing("without", "throughput", "main", where={"keep-alives": "none"}, of_run=True),
        Drawing("with", "throughput", "main", where={"keep-alives": "often"}, of_run=True),
    ),
    remarks=("That carriers forget is of the links here; what comes of it is found.",),
)
