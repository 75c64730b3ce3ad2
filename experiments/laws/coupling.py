"""What controllers that couple increases or decreases alone come to, and one window for all paths, beside the simulator's own Reno.

Increase and decrease balance in a fluid as in ``equilibria.py``: with Reno's window r on each path by itself, r² = 2(1−p)/p.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import pi, sqrt

from experiments.laws import equilibria
from experiments.laws.equilibria import BAND, PAIRS, Pair, Path
from experiments.laws.law import Case, Law, Reading


def window(path: Path) -> float:
    """Give Reno's window on the path."""
    return equilibria.reno(path) * path.rtt_ms / 1e3


def increase(pair: Pair) -> float:
    """Coupled increase: (1−p)/W = p·w/2 on each path, so that w = r²/W and W² = Σ r²."""
    total = sqrt(sum(window(path) ** 2 for path in pair))
    return sum(window(path) ** 2 / total / (path.rtt_ms / 1e3) for path in pair)


def decrease(pair: Pair) -> float:
    """Coupled decrease, with the second window below the first.

    The second has less than W/2, and a loss leaves it one packet: then it grows by a packet per round trip until the next, which
    gives √(2/πp)/R, where Reno has 1.31/(R√p). The first loses W/2, so that w₁·(w₁ + w₂) = r₁².
    """
    first, second = pair
    small = window(second) * sqrt(2 / pi) / 1.31
    large = (sqrt(small**2 + 4 * window(first) ** 2) - small) / 2
    return large / (first.rtt_ms / 1e3) + small / (second.rtt_ms / 1e3)


# Equal loss: one TCP, on the path that brings ACKs sooner.
LAWS: dict[str, tuple[Callable[[Pair], float], tuple[Pair, ...]]] = {
    "coupled-increase": (increase, (PAIRS[0], PAIRS[1], PAIRS[3])),
    "coupled-decrease": (decrease, (PAIRS[1],)),
    "global-window": (equilibria.best, (PAIRS[0], PAIRS[3])),
}


def read(controller: str, pair: Pair) -> Reading:
    """Compare what both paths carry."""
    law, _ = LAWS[controller]
    return Reading(law(pair), sum(equilibria.coupled(controller, pair)))


LAW = Law(
    "coupling",
    ("controller", "loss", "RTT"),
    "packets/s, both paths",
    tuple(
        Case(equilibria.labels(name, pair), partial(read, name, pair), 1 - BAND, 1 + BAND)
        for name, (_, pairs) in LAWS.items()
        for pair in pairs
    ),
)
