"""Downloads of 8 kB to 4 MB: when does the second path carry anything?"""

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
    from mptcplab.study.measured import Measured

SIZES = ("8 kB", "64 kB", "256 kB", "512 kB", "2 MB", "4 MB")
#: Below this some cellular paths carried nothing.
SMALL = ("8 kB", "64 kB", "256 kB")


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """Wi-Fi with each of the three carriers."""
    return {
        carrier: imc.campaign(
            extent,
            extent.repetitions(30, 6),
            f"small downloads with {carrier}",
            SIZES,
            controllers=("lia",),
            links={"wifi": imc.LINKS["wifi"], carrier: link},
        )
        for carrier, link in imc.CARRIERS.items()
    }


def compare(_: Measured) -> Iterator[Comparison]:
    """Of small sizes nothing is printed in the part of the paper that is reproduced."""
    return iter(())


def _nothing(measured: Measured, carrier: str) -> Verdict:
    verdicts = []
    for size in SMALL:
        sample = measured.sample(carrier, size=size, controller="lia", subflows="MP-2")
        shares = [one or 0.0 for one in sample.path(carrier, "share")]
        verdicts.append(judging.below(shares, 0.02, f"share of {carrier} at {size}"))
    return judging.both(*verdicts)


def _links(carrier: str) -> tuple[str, ...]:
    return imc.LINKS["wifi"], imc.CARRIERS[carrier]


EXPERIMENT = Experiment(
    name="small-downloads",
    title="downloads of 8 kB to 4 MB over home Wi-Fi and each of three carriers",
    reproduces="IMC 2013, §5.1",
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            imc.PAPER,
            "§5.1",
            "Some carriers have round trips so long that their path carries nothing of files below "
            "512 kB.",
            "Sprint's, the longest, carries less than 2 % of 8, 64 and 256 kB",
            partial(_nothing, carrier="sprint"),
            _links("sprint"),
        ),
    ),
    drawings=(Drawing("shares-att", "share", "att", by=("size",), paths=("att",)),),
    remarks=(
        "The paper says that some carriers carried nothing: those with large round trips. Which it "
        "does not say.",
    ),
)
