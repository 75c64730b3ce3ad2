"""What eight subflows carry hangs on settings of the kernel that the report does not tell."""

from __future__ import annotations

from mptcplab import measurements
from mptcplab.measurements import Figure
from mptcplab.study import scenes
from mptcplab.study.experiment import Comparison, Drawing, Experiment
from mptcplab.study.experiments.eight_subflows import PLACES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Extent
    from mptcplab.study.measured import Measured

OPTIMISED = {"mptcp.opportunistic_retransmission": True, "mptcp.penalisation": True}
NOT_OPTIMISED = dict.fromkeys(OPTIMISED, False)
#: The era's, and by their names what is other than in it.
SETTINGS: dict[str, dict[str, Any]] = {
    "usual": OPTIMISED | scenes.LIA,
    "no-optimisation": NOT_OPTIMISED | scenes.LIA,
    "half-the-buffer": {"tcp.max_receive_buffer": "440 kB"} | OPTIMISED | scenes.LIA,
    "quarter-of-it": {"tcp.max_receive_buffer": "220 kB"} | OPTIMISED | scenes.LIA,
    "later-lia": {"mptcp.congestion_control": "lia-linux"} | OPTIMISED,
    "no-delayed-acks": {"tcp.delayed_ack": "off"} | OPTIMISED | scenes.LIA,
}


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """The downloads of table III, with each setting."""
    return {
        place.name: place.campaign(
            extent,
            extent.repetitions(20, 4),
            controlled=True,
            axes={"setting": {"points": SETTINGS}},
            baselines=False,
        )
        for place in PLACES
    }


def compare(measured: Measured) -> Iterator[Comparison]:
    """The connection, and what each path carries."""
    data = measurements.load()
    for place in PLACES:
        row = data.multipath[place.row]
        for setting in SETTINGS:
            sample = measured.sample(place.name, setting=setting)
            figures = {"throughput": (row.aggregate, sample.figure("throughput_mbps"))} | {
                f"throughput of {path}": (printed, sample.path(path))
                for path, printed in row.carrier_aggregates.items()
            }
            for what, (printed, ours) in figures.items():
                assert printed is not None  # noqa: S101 - the row prints it
                yield Comparison(
                    place.row,
                    f"{what}, {setting.replace('-', ' ')}",
                    "Mbit/s",
                    Figure(printed),
                    ours,
                    profiles=tuple(place.links.values()),
                    scored=False,
                )


EXPERIMENT = Experiment(
    name="eight-subflows-settings",
    title="the eight subflows of table III with settings that the report does not tell",
    reproduces="UM-CS-2012-022, table III",
    campaigns=campaigns,
    compare=compare,
    drawings=tuple(
        Drawing(
            f"throughput-{place.name}",
            "boxes",
            place.name,
            by=("setting",),
            value="throughput_mbps",
        )
        for place in PLACES
    ),
    remarks=(
        "None of these is a prediction: they show how much the prediction of eight-subflows hangs "
        "on what is not known of the report's kernel, and are in no score.",
    ),
)
