"""Plain TCP over Verizon and AT&T, upwards, standing and driving."""

from __future__ import annotations

from mptcplab import measurements
from mptcplab.study import judging, scenes, singles
from mptcplab.study.experiment import Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured

PAPER = "umass-up"
LTE, EHRPD = "umass-up/1/verizon-lte", "umass-up/1/verizon-ehrpd"


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """All rows of table 1; their variation over time is table 2."""
    return {
        "main": singles.campaign(
            _rows(), extent, extent.repetitions(30, 6), "uploads over one path"
        )
    }


def compare(measured: Measured) -> Iterator[Comparison]:
    """Every figure of tables 1 and 2."""
    return singles.compare(_rows(), measured)


def _rows() -> list[measurements.SinglePath]:
    return singles.rows(PAPER, ("1",))


def _steadier(measured: Measured) -> Verdict:
    first, second = (
        measured.sample(row=row).figure("coefficient_of_variation") for row in (LTE, EHRPD)
    )
    return judging.more(first, second, "coefficients of variation of LTE, eHRPD")


def _bloated(measured: Measured) -> Verdict:
    sample = measured.sample(row=EHRPD)
    return judging.above(sample.figure("rtt_ms_mean"), 500, "eHRPD's mean RTT", "ms")


LINKS = tuple(scenes.profile(row) for row in (LTE, EHRPD))

EXPERIMENT = Experiment(
    name="single-uploads",
    title="plain TCP over one path, upwards, standing and driving",
    reproduces="On Uplink Measurement, tables 1 and 2, figures 1 to 3",
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            PAPER,
            "§4.2, table 2",
            "Uploads over Verizon's LTE vary most, those over its eHRPD least.",
            "the coefficient of variation of LTE is above that of eHRPD",
            _steadier,
            LINKS,
            fitted=True,
        ),
        Finding(
            PAPER,
            "§4.1",
            "Verizon's 3G queues uploads for very long: round trips of a second, hardly a loss.",
            "the mean RTT is above half a second",
            _bloated,
            LINKS[1:],
            fitted=True,
        ),
    ),
    drawings=(
        Drawing("rtt", "rtt-ccdf", "main", by=("row",)),
        *(
            Drawing(
                f"figure-{number}-{kind}",
                kind,
                "main",
                where={"row": f"{PAPER}/1/{row}"},
                of_run=True,
            )
            for number, row in ((1, "verizon-lte"), (2, "att-hspa"), (3, "verizon-ehrpd"))
            for kind in ("throughput", "rtt")
        ),
    ),
    remarks=(
        "The links are calibrated on these very rows: an agreement shows that the fit holds, and "
        "predicts nothing.",
    ),
)
