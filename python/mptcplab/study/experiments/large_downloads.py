"""Downloads of 4 to 32 MB over home Wi-Fi and AT&T's LTE, by controller and number of subflows."""

from __future__ import annotations

from mptcplab.study import imc, judging, measurements, scenes
from mptcplab.study.experiment import PAPERS, TODAY, Comparison, Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Extent
    from mptcplab.study.judging import Values, Verdict
    from mptcplab.study.measured import Measured

SIZES = ("4 MB", "8 MB", "16 MB", "32 MB")
#: Between which values figure 10's axis lies.
LEAST_SHARE, MOST_SHARE = 0.4, 0.8
COLUMNS = {"loss": ("loss_rate_percent", "%"), "RTT": ("rtt_ms_mean", "ms")}


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """SP, MP-2 and MP-4, with each controller."""
    repetitions = extent.repetitions(30, 6)
    return {"main": imc.campaign(extent, repetitions, "downloads of 4 to 32 MB", SIZES)}


def compare(measured: Measured) -> Iterator[Comparison]:
    """Table 5: plain TCP over either path."""
    data = measurements.load()
    for path, name in (("wifi", imc.WIFI), ("att", imc.ATT)):
        row = data.single_path[name]
        for number, size in enumerate(row.sizes):
            for what, printed in (("loss", row.loss_by_size), ("RTT", row.rtt_by_size)):
                column, unit = COLUMNS[what]
                ours, now = (
                    _sample(measured, size, stack=stack).alone(path, column)
                    for stack in (PAPERS, TODAY)
                )
                yield Comparison(
                    name,
                    f"{what} of {size}",
                    unit,
                    printed[number],
                    ours,
                    now,
                    profiles=(scenes.profile(name),),
                    fitted=True,
                )


def _sample(
    measured: Measured,
    size: str,
    controller: str = "lia",
    subflows: str = "MP-2",
    stack: str = PAPERS,
) -> Any:
    return measured.sample(stack=stack, size=size, controller=controller, subflows=subflows)


def _over(measured: Measured, figure: str, controller: str, subflows: str) -> Values:
    return [
        value
        for size in SIZES
        for value in _sample(measured, size, controller, subflows).figure(figure)
    ]


def _four(measured: Measured) -> Verdict:
    four, two = (_over(measured, "throughput_mbps", "lia", name) for name in ("MP-4", "MP-2"))
    return judging.more(four, two, "MP-4, MP-2 over all sizes", "Mbit/s")


def _best(measured: Measured) -> Verdict:
    ratios = [
        one
        for size in SIZES
        for one in judging.ratio(
            _sample(measured, size).figure("throughput_mbps"), _sample(measured, size).best_alone()
        )
    ]
    return judging.above(ratios, 0.9, "MP-2 / best single path over all sizes")


def _share(measured: Measured) -> Verdict:
    verdicts = []
    for size in SIZES:
        shares = _sample(measured, size).path("att", "share")
        words = f"AT&T's share of {size}"
        verdicts += [
            judging.above(shares, LEAST_SHARE, words),
            judging.below(shares, MOST_SHARE, words),
        ]
    return judging.both(*verdicts)


EXPERIMENT = Experiment(
    name="large-downloads",
    title="downloads of 4 to 32 MB, Wi-Fi and AT&T's LTE: SP, MP-2, MP-4 × LIA, OLIA, Reno",
    reproduces="IMC 2013, table 5, figures 9 and 10",
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            imc.PAPER,
            "§4.2",
            "Four subflows are slightly faster than two.",
            "MP-4 is faster than MP-2 with LIA, run by run over all sizes",
            _four,
        ),
        Finding(
            imc.PAPER,
            "§5.2",
            "MPTCP performs as well as the best single path, and sometimes better.",
            "MP-2 with LIA has more than 90 % of the best single path",
            _best,
        ),
        Finding(
            imc.PAPER,
            "figure 10",
            "The cellular path carries 40 to 80 % of a large file.",
            "AT&T's share with LIA lies between 0.4 and 0.8 for each size",
            _share,
        ),
    ),
    drawings=(
        Drawing("figure-9", "boxes", "main", by=("size", "controller"), where={"subflows": "MP-2"}),
        Drawing("figure-10", "share", "main", by=("size", "controller"), paths=("att",)),
    ),
    remarks=(
        "Download times and shares stand in figures alone: no number of them is scored.",
        imc.RATES,
    ),
)
