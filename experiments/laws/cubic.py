"""CUBIC under periodic loss: the response function of RFC 9438 §5.1, and the Reno-friendly region below it (§4.3)."""

from __future__ import annotations

from functools import partial
from math import sqrt

from experiments.laws import reno, runs
from experiments.laws.law import Case, Law, Reading

# Of RFC 9438 §5.1.
BETA, C = 0.7, 0.4
CASES = ((10, 1000), (10, 10_000), (50, 1000), (50, 10_000), (200, 100), (200, 1000), (200, 10_000))
CYCLES = 12
# Fast convergence (§4.7) lets a window that a loss met short of its last height aim at (1 + β)/2 of it; what is missing to
# the law's comes back by C·(T−K)³ packets per loss, next to nothing.
LOW = (1 + BETA) / 2


def cubic(rtt_s: float, every: int) -> float:
    """Give packets per second by RFC 9438 eq. (5): a loss of one packet in so many."""
    return sqrt(sqrt(C * (3 + BETA) / (4 * (1 - BETA)) * every**3 / rtt_s))


def read(rtt_ms: int, every: int) -> Reading:
    """Count from loss to loss once windows repeat."""
    foreseen = max(cubic(rtt_ms / 1e3, every), reno.periodic(rtt_ms / 1e3, every))
    lost = {"element": "periodic-loss", "every": f"{every} packets"}
    tcp = {"congestion_control": "cubic"}
    run = runs.download({"air": runs.path(rtt_ms, lost)}, every / foreseen * CYCLES * 1.5, tcp=tcp)
    drops = run.drops.filter(direction="down", reason="loss")["at_ns"].to_list()
    own = drops[len(drops) // 3 :]
    return Reading(foreseen, (len(own) - 1) * every / ((own[-1] - own[0]) / 1e9))


def region(rtt_ms: int, every: int) -> str:
    """Say which of the two gives more."""
    is_cubic = cubic(rtt_ms / 1e3, every) > reno.periodic(rtt_ms / 1e3, every)
    return "cubic" if is_cubic else "Reno-friendly"


LAW = Law(
    "cubic",
    ("loss", "RTT", "region"),
    "packets/s",
    tuple(
        Case(
            (f"every {every}th", f"{rtt} ms", region(rtt, every)),
            partial(read, rtt, every),
            LOW,
            1.05,
        )
        for rtt, every in CASES
    ),
)
