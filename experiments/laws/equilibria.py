"""What coupled controllers come to under independent loss, beside the simulator's own Reno under the same loss.

Fluid models hold for small windows only up to a constant that all controllers share: so laws here are stated in rates of
Reno, measured over each path by itself, and not in √(2/p)/R.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from math import sqrt
from typing import Any

from experiments.laws import runs
from experiments.laws.law import Case, Law, Reading

LOSSES = 1500


@dataclass(frozen=True)
class Path:
    """A path that loses packets and holds none up."""

    ratio: float
    rtt_ms: int
    # Every n-th packet rather than each by chance.
    is_periodic: bool = False

    def link(self) -> runs.Table:
        """Describe its link."""
        every = {"element": "periodic-loss", "every": f"{1 / self.ratio:.0f} packets"}
        return runs.path(self.rtt_ms, every if self.is_periodic else runs.loss(self.ratio))

    @property
    def loss(self) -> str:
        """Say how it loses."""
        return f"every {1 / self.ratio:.0f}th" if self.is_periodic else f"{self.ratio * 100:g}%"

    @property
    def fluid(self) -> float:
        """Give Reno's rate in fluid models (Kelly 2003): √(2(1−p)/p)/R."""
        return sqrt(2 * (1 - self.ratio) / self.ratio) / (self.rtt_ms / 1e3)


Pair = tuple[Path, Path]
PAIRS: tuple[Pair, ...] = (
    (Path(0.01, 100), Path(0.01, 100)),
    (Path(0.01, 100), Path(0.04, 100)),
    (Path(0.001, 100), Path(0.01, 100)),
    (Path(0.01, 20), Path(0.01, 100)),
    (Path(0.001, 50), Path(0.01, 20)),
)
# The second and the last of them with larger windows.
RARE: tuple[Pair, ...] = (
    (Path(0.001, 100), Path(0.004, 100)),
    (Path(0.0002, 50), Path(0.002, 20)),
)
# OLIA judges paths by the distance of their losses, and that is known where losses come in turn.
PERIODIC: tuple[Pair, ...] = (
    (Path(0.01, 100, True), Path(0.04, 100, True)),
    (Path(0.001, 50, True), Path(0.01, 20, True)),
)


@cache
def reno(path: Path) -> float:
    """Give packets per second of plain Reno over the path alone."""
    seconds = LOSSES / path.ratio / path.fluid
    run = runs.download({"one": path.link()}, seconds, tcp={"congestion_control": "reno"})
    return runs.packets_per_s(run)["one"]


@cache
def coupled(controller: str, pair: Pair) -> tuple[float, float]:
    """Give packets per second over each of the paths."""
    seconds = 2 * LOSSES / max(path.ratio * path.fluid for path in pair)
    links = {name: path.link() for name, path in zip(("one", "two"), pair, strict=True)}
    # Seeds of pairs are not those of the references.
    run = runs.download(links, seconds, seed=2, mptcp={"congestion_control": controller})
    sent = runs.packets_per_s(run)
    return sent["one"], sent["two"]


def best(pair: Pair) -> float:
    """Give what LIA, OLIA and BALIA aim at: a TCP's rate on the best path (RFC 6356 §2, goals 1 and 2)."""
    return max(map(reno, pair))


def summed(pair: Pair) -> float:
    """Give what uncoupled Reno takes: all."""
    return sum(map(reno, pair))


def weighted(pair: Pair) -> float:
    """Give what EWTCP takes with a = 1/n²: √a = 1/n of Reno on each path."""
    return summed(pair) / len(pair)


def lia_share(pair: Pair) -> float:
    """Give the first path's share by RFC 6356 in a fluid: w ∝ (1−p)/p, as long as no window grows faster than Reno's."""
    one, two = ((1 - path.ratio) / path.ratio / path.rtt_ms for path in pair)
    return one / (one + two)


def balia_share(pair: Pair) -> float:
    """Give the first path's share where increase and decrease of draft-walid-mptcp-congestion-control-04 balance.

    With a = x₁/x₂ ≥ 1 that is (1+a)(4+a)/10 = k·min(a, 1.5), where k is how much more, in p·R²/(1−p), the second path
    suffers.
    """
    one, two = (path.fluid for path in pair)
    k = (one / two) ** 2
    # Beyond a = 1.5 a quadratic equation; below it only k = 1 is needed here.
    a = 1.0 if k == 1 else (-5 + sqrt(9 + 60 * k)) / 2
    return a / (1 + a)


def own_share(pair: Pair) -> float:
    """Give the first path's share where each path has a part of its own Reno."""
    return reno(pair[0]) / summed(pair)


TOTALS: dict[str, Callable[[Pair], float]] = {
    "reno": summed,
    "lia": best,
    "olia": best,
    "balia": best,
    "ewtcp": weighted,
}
SHARES: dict[str, Callable[[Pair], float]] = {
    "reno": own_share,
    "lia": lia_share,
    "balia": balia_share,
    "ewtcp": own_share,
}

# Reno's pairs are its references'.
SPLIT_PAIRS = {name: PAIRS if name == "reno" else PAIRS + RARE for name in TOTALS}
TOTAL_PAIRS = SPLIT_PAIRS | {"olia": PAIRS + RARE + PERIODIC}
BAND = 0.12
# Where chance in the distances of losses moves an equilibrium: `formulas.py` holds what the formulas give there.
FOUND = {("olia", pair): 0.75 for pair in (PAIRS[1], PAIRS[4], *RARE)}
FOUND_SHARES = {("balia", PAIRS[4]): 0.85}


def read_total(controller: str, pair: Pair) -> Reading:
    """Compare what both paths carry."""
    return Reading(TOTALS[controller](pair), sum(coupled(controller, pair)))


def read_share(controller: str, pair: Pair) -> Reading:
    """Compare the first path's part."""
    sent = coupled(controller, pair)
    return Reading(SHARES[controller](pair), sent[0] / sum(sent))


def labels(controller: str, pair: Pair) -> tuple[str, str, str]:
    """Give what a row begins with."""
    losses = " · ".join(path.loss for path in pair)
    rtts = " · ".join(str(path.rtt_ms) for path in pair)
    return controller, losses, f"{rtts} ms"


def case(
    controller: str, pair: Pair, read: Callable[[str, Pair], Reading], found: dict[Any, float]
) -> Case:
    """Give the case of a pair; ``found`` has how low it is where the law does not hold."""
    low = found.get((controller, pair))
    return Case(
        labels(controller, pair),
        partial(read, controller, pair),
        1 - BAND if low is None else low,
        1 + BAND,
        is_found=low is not None,
        is_long=pair == RARE[1],
    )


LAW = Law(
    "equilibria",
    ("controller", "loss", "RTT"),
    "packets/s, both paths",
    tuple(
        case(controller, pair, read_total, FOUND)
        for controller, pairs in TOTAL_PAIRS.items()
        for pair in pairs
    ),
)
SPLIT = Law(
    "shares",
    ("controller", "loss", "RTT"),
    "share of the first path",
    tuple(
        case(controller, pair, read_share, FOUND_SHARES)
        for controller in SHARES
        for pair in SPLIT_PAIRS[controller]
    ),
)
