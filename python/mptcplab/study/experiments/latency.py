"""Round trips of each path and out-of-order delays of connections, as distributions."""

from __future__ import annotations

from functools import partial

from mptcplab.study import imc, judging
from mptcplab.study.experiment import Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured, Sample

SIZES = ("4 MB", "8 MB", "16 MB", "32 MB")
NAMES = {"att": "AT&T", "verizon": "Verizon", "sprint": "Sprint"}


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """Wi-Fi with each of the three carriers, LIA and two subflows."""
    return {
        carrier: imc.campaign(
            extent,
            extent.repetitions(30, 6),
            f"latency with {NAMES[carrier]}",
            SIZES,
            controllers=("lia",),
            addresses=(1,),
            links={"wifi": imc.LINKS["wifi"], carrier: link},
        )
        for carrier, link in imc.CARRIERS.items()
    }


def compare(_: Measured) -> Iterator[Comparison]:
    """Shares and bounds are judged as findings."""
    return iter(())


def _sample(measured: Measured, carrier: str, size: str) -> Sample:
    return measured.sample(carrier, size=size, controller="lia", subflows="MP-2")


def _asked(
    measured: Measured,
    carrier: str,
    path: str,
    span: tuple[float, float],
    least: float,
    sizes: tuple[str, ...] = SIZES,
) -> Verdict:
    """Ask whether more than a share of the round trips over a path lies within a span."""
    verdicts = []
    for size in sizes:
        within, every = _sample(measured, carrier, size).samples("rtt", path, *span)
        words = f"share of {size}"
        verdicts.append(judging.above(judging.Ratio(within, every), least, words))
    return judging.both(*verdicts)


def _shortest(measured: Measured, carrier: str, printed: float) -> Verdict:
    """Ask whether the shortest round trip is longer than Wi-Fi's, and as long as printed."""
    sample = _sample(measured, carrier, SIZES[-1])
    ours, wifi = (sample.subflow(path, 1, "rtt_ms_min") for path in (carrier, "wifi"))
    longer = judging.more(ours, wifi, f"{NAMES[carrier]}'s and Wi-Fi's shortest", "ms")
    return judging.sized(longer, ours, printed, "it is", "ms")


def _longest(measured: Measured, carrier: str, printed: float) -> Verdict:
    ours = _sample(measured, carrier, SIZES[-1]).subflow(carrier, 1, "rtt_ms_max")
    words = f"{NAMES[carrier]}'s longest of 32 MB"
    return judging.sized(
        judging.above(ours, printed / 2, words, "ms"), ours, printed, "it is", "ms"
    )


def _in_order(measured: Measured, carrier: str) -> Verdict:
    waited, every = (
        judging.over(*(_sample(measured, carrier, size).transfer(what) for size in SIZES))
        for what in ("out_of_order_segments", "reordering_segments")
    )
    at_once = [
        None if late is None or all_ is None else all_ - late
        for late, all_ in zip(waited, every, strict=True)
    ]
    return judging.above(judging.Ratio(at_once, every), 0.75, "share in order over all sizes")


def _smaller_wait_longer(measured: Measured) -> Verdict:
    small, large = (
        judging.over(
            *(_sample(measured, "att", size).figure("out_of_order_delay_ms_mean") for size in sizes)
        )
        for sizes in (SIZES[:2], SIZES[2:])
    )
    return judging.more(small, large, "4 and 8 MB, 16 and 32 MB", "ms")


def _links(carrier: str) -> tuple[str, ...]:
    return imc.LINKS["wifi"], imc.CARRIERS[carrier]


def _finding(where: str, says: str, asked: str, judge: Any, carrier: str) -> Finding:
    return Finding(imc.PAPER, where, says, asked, judge, _links(carrier))


EXPERIMENT = Experiment(
    name="latency",
    title="round trips of each path and out-of-order delays, Wi-Fi with each of three carriers",
    reproduces="IMC 2013, figures 12 and 13",
    campaigns=campaigns,
    compare=compare,
    findings=(
        _finding(
            "§5.1",
            "90 % of Wi-Fi's round trips are below 50 ms for files above 4 MB.",
            "so are those of 8, 16 and 32 MB beside AT&T",
            lambda measured: _asked(measured, "att", "wifi", (0, 50), 0.9, SIZES[1:]),
            "att",
        ),
        _finding(
            "§5.1",
            "More than 70 % of AT&T's round trips lie between 50 and 200 ms.",
            "so it is for each size",
            lambda measured: _asked(measured, "att", "att", (50, 200), 0.7),
            "att",
        ),
        _finding(
            "§5.1",
            "98 % of Sprint's round trips are above 100 ms.",
            "so it is for each size",
            lambda measured: _asked(measured, "sprint", "sprint", (100, 1e9), 0.98),
            "sprint",
        ),
        *(
            _finding(
                "§5.1",
                f"{NAMES[carrier]}'s shortest round trip is longer than Wi-Fi's: {least} ms.",
                "so it is for 32 MB, run by run",
                partial(_shortest, carrier=carrier, printed=least),
                carrier,
            )
            for carrier, least in (("att", 40), ("verizon", 32), ("sprint", 50))
        ),
        *(
            _finding(
                "§5.1",
                f"{NAMES[carrier]}'s round trips grow up to two seconds.",
                "the longest of 32 MB is above one second in the mean",
                partial(_longest, carrier=carrier, printed=2000),
                carrier,
            )
            for carrier in ("verizon", "sprint")
        ),
        *(
            _finding(
                "§5.2",
                f"With {NAMES[carrier]} 75 % of the packets arrive in order.",
                "more than 75 % of the segments in the mean",
                partial(_in_order, carrier=carrier),
                carrier,
            )
            for carrier in ("att", "verizon")
        ),
        _finding(
            "§5.2",
            "Transfers of 4 and 8 MB wait longer for order than larger ones.",
            "the mean out-of-order delay of 4 and 8 MB with AT&T is above that of 16 and 32 MB",
            _smaller_wait_longer,
            "att",
        ),
    ),
    drawings=(
        *(
            Drawing(f"figure-12-{carrier}-{size}", "rtt-ccdf", carrier, where=of, of_run=True)
            for carrier in imc.CARRIERS
            for size, of in (("4-mb", {"size": "4 MB"}), ("32-mb", {"size": "32 MB"}))
        ),
        *(
            Drawing(f"rtt-{carrier}", "rtt-ccdf", carrier, by=("size",), paths=("mptcp",))
            for carrier in imc.CARRIERS
        ),
        *(
            Drawing(
                f"figure-13-{carrier}",
                "out-of-order-ccdf",
                carrier,
                by=("size",),
                paths=("mptcp",),
            )
            for carrier in imc.CARRIERS
        ),
    ),
)
