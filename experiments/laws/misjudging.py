"""OLIA under independent loss beside its own formulas, iterated packet by packet without hosts, links or the simulator's code.

Both fall short of a TCP on the best path, and by about as much: that is the premise of the equilibrium, not an implementation.
"""

from __future__ import annotations

from functools import partial
from random import Random

from experiments.laws import equilibria
from experiments.laws.equilibria import BAND, PAIRS, Pair, Path
from experiments.laws.law import Case, Law, Reading

LOSSES = 1200


def rate(paths: tuple[Path, ...]) -> float:
    """Give packets per second: each path sends its window per round trip, and loses each packet by chance.

    draft-khalili-mptcp-congestion-control-05: an ACK adds w/R²/(Σ w/R)² + α/w, a loss halves, once per round trip. Alone that is Reno.
    """
    random = Random(1)
    trips = [path.rtt_ms / 1e3 for path in paths]
    every = range(len(paths))
    windows, due, repaired = [10.0 for _ in every], [0.0 for _ in every], [0.0 for _ in every]
    since, between = [0 for _ in every], [0 for _ in every]
    packets = round(LOSSES / min(path.ratio for path in paths))
    now = 0.0
    for _ in range(packets):
        i = min(every, key=due.__getitem__)
        now = due[i]
        due[i] += trips[i] / windows[i]
        if random.random() < paths[i].ratio:
            if now >= repaired[i]:
                windows[i], repaired[i] = max(windows[i] / 2, 2.0), now + trips[i]
                between[i], since[i] = since[i] or between[i], 0
            continue
        since[i] += 1
        if now >= repaired[i]:
            total = sum(windows[j] / trips[j] for j in every)
            runs = [max(since[j], between[j]) for j in every]
            linked = windows[i] / trips[i] ** 2 / total**2
            windows[i] += linked + alpha(i, windows, trips, runs) / windows[i]
            windows[i] = max(windows[i], 1.0)
    return packets / now


def alpha(i: int, windows: list[float], trips: list[float], runs: list[int]) -> float:
    """Give α of the draft: from those with the largest windows to the best, l/R², that have smaller ones."""
    quality = [run / trip**2 for run, trip in zip(runs, trips, strict=True)]
    largest = {j for j, window in enumerate(windows) if int(window) == int(max(windows))}
    collected = {j for j, value in enumerate(quality) if value == max(quality)} - largest
    if collected and i in largest:
        return -1 / (len(windows) * len(largest))
    return 1 / (len(windows) * len(collected)) if i in collected else 0.0


def read(pair: Pair) -> Reading:
    """Compare what both paths carry, each in units of its own Reno on the best path."""
    foreseen = rate(pair) / max(rate((path,)) for path in pair)
    return Reading(foreseen, sum(equilibria.coupled("olia", pair)) / equilibria.best(pair))


LAW = Law(
    "misjudging",
    ("loss", "RTT"),
    "both paths / TCP on the best",
    tuple(
        Case(equilibria.labels("olia", pair)[1:], partial(read, pair), 1 - BAND, 1 + BAND)
        for pair in (PAIRS[1], PAIRS[4])
    ),
)
