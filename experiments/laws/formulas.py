"""OLIA and BALIA under independent loss beside their own formulas, iterated packet by packet without hosts, links or the simulator's code.

Where both are off the fluid's law by as much, it is the law's premise that does not hold, not an implementation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from random import Random

from experiments.laws import equilibria
from experiments.laws.equilibria import PAIRS, Pair, Path
from experiments.laws.law import Case, Law, Reading

# Of the path that loses least.
LOSSES = 600
# What recovery, time-outs and slow start after them add to the formulas.
BAND = 0.05


@dataclass
class Flow:
    """A path's window, and the packets acknowledged since its last loss and between the two before."""

    trip_s: float
    window: float = 10.0
    since: int = 0
    between: int = 0

    @property
    def rate(self) -> float:
        """Give packets per second."""
        return self.window / self.trip_s

    @property
    def quality(self) -> float:
        """OLIA's l/R²."""
        return max(self.since, self.between) / self.trip_s**2


@dataclass(frozen=True)
class Formulas:
    """What an ACK adds to a window and what a loss leaves of it."""

    increase: Callable[[Flow, list[Flow]], float]
    decrease: Callable[[Flow, list[Flow]], float]


def olia_increase(own: Flow, flows: list[Flow]) -> float:
    """draft-khalili-mptcp-congestion-control-05: w/R²/(Σ w/R)² + α/w."""
    linked = own.rate / own.trip_s / sum(flow.rate for flow in flows) ** 2
    return linked + alpha(own, flows) / own.window


def alpha(own: Flow, flows: list[Flow]) -> float:
    """Give OLIA's α: from those with the largest windows to the best that have smaller ones."""
    most, best = (max(int(flow.window) for flow in flows), max(flow.quality for flow in flows))
    largest = [flow for flow in flows if int(flow.window) == most]
    collected = [flow for flow in flows if flow.quality == best and flow not in largest]
    if collected and own in largest:
        return -1 / (len(flows) * len(largest))
    return 1 / (len(flows) * len(collected)) if own in collected else 0.0


def balia_increase(own: Flow, flows: list[Flow]) -> float:
    """draft-walid-mptcp-congestion-control-04: x/(R X²) · (1 + a)/2 · (4 + a)/5, with a as below; not more than Reno."""
    a = max(flow.rate for flow in flows) / own.rate
    linked = own.rate / own.trip_s / sum(flow.rate for flow in flows) ** 2
    return min(linked * (1 + a) / 2 * (4 + a) / 5, 1 / own.window)


def balia_decrease(own: Flow, flows: list[Flow]) -> float:
    """The same: w/2 · min(a, 1.5) is taken, where a is the greatest rate over its own."""
    a = max(flow.rate for flow in flows) / own.rate
    return own.window * (1 - min(a, 1.5) / 2)


FORMULAS = {
    "olia": Formulas(olia_increase, lambda own, _: own.window / 2),
    "balia": Formulas(balia_increase, balia_decrease),
}


@cache
def rates(controller: str, paths: tuple[Path, ...]) -> tuple[float, ...]:
    """Give packets per second: each path sends the whole packets of its window per round trip, and loses each by chance.

    A loss counts once per round trip, in which the window stands still. Over one path that is Reno.
    """
    formulas, random = FORMULAS[controller], Random(1)
    flows = [Flow(path.rtt_ms / 1e3) for path in paths]
    every = range(len(paths))
    due, repaired, sent = [0.0 for _ in every], [0.0 for _ in every], [0 for _ in every]
    now = 0.0
    for _ in range(round(LOSSES / min(path.ratio for path in paths))):
        i = min(every, key=due.__getitem__)
        now, own = due[i], flows[i]
        sent[i] += 1
        due[i] += own.trip_s / int(own.window)
        if random.random() >= paths[i].ratio:
            own.since += 1
            if now >= repaired[i]:
                own.window = max(own.window + formulas.increase(own, flows), 1.0)
        elif now >= repaired[i]:
            own.window = max(formulas.decrease(own, flows), 2.0)
            repaired[i] = now + own.trip_s
            own.between, own.since = own.since or own.between, 0
    return tuple(count / now for count in sent)


def read_total(pair: Pair) -> Reading:
    """Compare what OLIA's paths carry, each in units of its own Reno on the best path."""
    foreseen = sum(rates("olia", pair)) / max(rates("olia", (path,))[0] for path in pair)
    return Reading(foreseen, sum(equilibria.coupled("olia", pair)) / equilibria.best(pair))


def read_share(pair: Pair) -> Reading:
    """Compare BALIA's share of the first path."""
    first, second = rates("balia", pair)
    sent = equilibria.coupled("balia", pair)
    return Reading(first / (first + second), sent[0] / sum(sent))


LAW = Law(
    "formulas",
    ("controller", "of", "loss", "RTT"),
    "formulas alone",
    tuple(
        Case(
            (controller, what, *equilibria.labels(controller, pair)[1:]),
            partial(read, pair),
            1 - BAND,
            1 + BAND,
        )
        for controller, what, read in (
            ("olia", "total / TCP on the best path", read_total),
            ("balia", "share of the first path", read_share),
        )
        for pair in (PAIRS[1], PAIRS[4])
    ),
)
