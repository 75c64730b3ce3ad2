"""Downloads of 4 to 32 MB over home Wi-Fi and AT&T's LTE, by controller and number of subflows."""

from __future__ import annotations

from mptcplab import measurements
from mptcplab.study import imc, judging, scenes
from mptcplab.study.experiment import PAPERS, TODAY, Comparison, Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Extent
    from mptcplab.study.judging import Values, Verdict
    from mptcplab.study.measured import Measured

SIZES = ("4 MB", "8 MB", "16 MB", "32 MB")
#: Labels at the axis of figure 10: between them lies most of it, which is not to say the data.
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
    samples = (_sample(measured, size, controller, subflows) for size in SIZES)
    return judging.over(*(sample.figure(figure) for sample in samples))


def _four(measured: Measured) -> Verdict:
    four, two = (_over(measured, "throughput_mbps", "lia", name) for name in ("MP-4", "MP-2"))
    return judging.more(four, two, "MP-4, MP-2 over all sizes", "Mbit/s")


def _best(measured: Measured) -> Verdict:
    samples = [_sample(measured, size) for size in SIZES]
    ratio = judging.Ratio(
        judging.over(*(sample.figure("throughput_mbps") for sample in samples)),
        judging.over(*(sample.best_alone() for sample in samples)),
    )
    return judging.above(ratio, 0.9, "MP-2 / best single path over all sizes")


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
            "The cellular path's share of large files is drawn on an axis labelled 40 to 80 %.",
            "AT&T's share with LIA lies between 0.4 and 0.8 for each size",
            _share,
            unprinted="40 to 80 % are labels of the axis: no share is printed",
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
