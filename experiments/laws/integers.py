"""Controllers in the out-of-tree kernel's integers beside the same in exact numbers."""

from __future__ import annotations

from functools import partial

from experiments.laws import equilibria
from experiments.laws.equilibria import BAND, PAIRS, Pair
from experiments.laws.law import Case, Law, Reading

# LIA's kernel takes w/R², in whole numbers, for 0 on either path: of equals the oldest subflow is
# the best. With equal round-trip times one ACK more per packet costs as much as that. BALIA's takes
# the quotient of the rates in whole numbers: with rates that are alike a loss halves the window, of
# which exact numbers take up to three quarters.
FOUND = {("lia", PAIRS[0]): (0.8, 1 + BAND), ("balia", PAIRS[0]): (1 - BAND, 1.2)}


def read(controller: str, pair: Pair) -> Reading:
    """Compare what both paths carry."""
    exact, rounded = (
        equilibria.coupled(name, pair) for name in (controller, f"{controller}-linux")
    )
    return Reading(sum(exact), sum(rounded))


LAW = Law(
    "integers",
    ("controller", "loss", "RTT"),
    "packets/s, both paths",
    tuple(
        Case(
            equilibria.labels(f"{name}-linux", pair),
            partial(read, name, pair),
            *FOUND.get((name, pair), (1 - BAND, 1 + BAND)),
            is_found=(name, pair) in FOUND,
        )
        for name in ("lia", "olia", "balia")
        for pair in (PAIRS[0], PAIRS[3])
    ),
)
