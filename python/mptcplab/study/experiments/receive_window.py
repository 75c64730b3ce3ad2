"""What a receive window of 100 800 bytes does to AT&T's LTE, of which the saw-tooth is seen."""

from __future__ import annotations

from mptcplab import measurements
from mptcplab.study import comparing, judging, scenes, singles
from mptcplab.study.experiment import Comparison, Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured

NARROW, WIDE = "umass-tr/II/boston-att-lte", "umass-tr/II/boston-att-lte-adjusted"
LINK = scenes.profile(WIDE)
NARROW_BYTES = 100_800
#: 46 % more were printed.
HALF_OF_IT = 1.23


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """The link of the adjusted rows alone, with either window."""
    data = measurements.load()
    rows = {"narrow": data.single_path[NARROW], "wide": data.single_path[WIDE]}
    points = {name: singles.settings(row) for name, row in rows.items()}
    scene = scenes.scenario({singles.PATH: LINK}, "download", size=extent.size("100 MB"))
    return {
        "main": scenes.campaign(
            scene,
            extent,
            extent.repetitions(30, 6),
            title="two receive windows over one link",
            both=singles.PLAIN,
            baselines=False,
            axes={"window": {"points": points}},
        )
    }


def compare(measured: Measured) -> Iterator[Comparison]:
    """The row of the narrow window, on the link that was calibrated with the wide one."""
    row = measurements.load().single_path[NARROW]
    sample, today = comparing.samples(measured, window="narrow")
    for one in comparing.single(row, sample, today, singles.PATH):
        yield comparing.predicted(one, measurements.load().single_path[WIDE], (LINK,))


def _capped(measured: Measured) -> Verdict:
    sample = measured.sample(window="narrow")
    caps = [
        None if rtt is None else NARROW_BYTES * 8e-3 / rtt for rtt in sample.figure("rtt_ms_mean")
    ]
    rates = sample.figure("throughput_mbps")
    return judging.both(
        judging.below(judging.Ratio(rates, caps), 1.02, "throughput / (window / RTT)"),
        judging.above(judging.Ratio(rates, caps), 0.7, "throughput / (window / RTT)"),
    )


def _faster(measured: Measured) -> Verdict:
    wide, narrow = (
        measured.sample(window=name).figure("throughput_mbps") for name in ("wide", "narrow")
    )
    ratio = judging.Ratio(wide, narrow)
    more = judging.above(ratio, HALF_OF_IT, "wide / narrow")
    return judging.sized(more, ratio, 1.46, "the ratio")


def _round_trips(measured: Measured) -> Verdict:
    sample = measured.sample(window="wide")
    most = sample.subflow(singles.PATH, 1, "rtt_ms_max")
    least = sample.subflow(singles.PATH, 1, "rtt_ms_min")
    return judging.both(
        judging.above(most, 150, "longest round trip", "ms"),
        judging.below(most, 260, "longest round trip", "ms"),
        judging.below(least, 60, "shortest", "ms"),
    )


EXPERIMENT = Experiment(
    name="receive-window",
    title="AT&T's LTE with the receive window that its tethering left, and with eight times that",
    reproduces="UM-CS-2012-022, §IV-A, figures 2 and 5",
    on_linux=True,
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "umass-tr",
            "§IV-A",
            "The window caps the rate: 100 800 bytes per round trip of 65.84 ms are 12.25 Mbit/s "
            "(printed as 11.68, with 2²⁰ bits to the Mbit).",
            "the rate is 0.7 to 1.02 of the window per mean round trip",
            _capped,
        ),
        Finding(
            "umass-tr",
            "§IV-A",
            "With the larger buffer the same network gives 46 % more.",
            "the wide window is faster by at least half of that",
            _faster,
        ),
        Finding(
            "umass-tr",
            "figure 5",
            "Round trips grow from 40 ms up to about 200 ms, and fall back at each loss.",
            "the longest lies between 150 and 260 ms, the shortest below 60 ms",
            _round_trips,
        ),
    ),
    drawings=(
        Drawing("rtt", "rtt-ccdf", "main", by=("window",)),
        Drawing("figure-5", "rtt", "main", where={"window": "wide"}, of_run=True),
    ),
    remarks=("The narrow row is predicted by the link that was calibrated on the wide one.",),
)
