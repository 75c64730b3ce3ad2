"""Reno under independent and under periodic loss: 1/√p laws (Mathis, Semke, Mahdavi, Ott, CCR 27(3), 1997)."""

from __future__ import annotations

from functools import partial
from math import sqrt

from experiments.laws import runs
from experiments.laws.law import Case, Law, Reading

RTTS_MS = (10, 50, 200)
# Loss ratio, losses: fewer where each takes more packets.
RANDOM = ((1e-3, 2000), (3e-4, 1000), (1e-4, 1000))
PERIODS = ((100, 60, 0.10), (1000, 20, 0.03), (10_000, 4, 0.03))
RENO = {"congestion_control": "reno"}


def independent(rtt_s: float, ratio: float) -> float:
    """Give packets per second without delayed ACKs (Mathis et al. §2, after Ott, Kemperman, Mathis 1996)."""
    return 1.31 / (rtt_s * sqrt(ratio))


def periodic(rtt_s: float, every: int) -> float:
    """Give packets per second: a window from w to 2w, a packet more per round trip, then a loss; √(3/2p)/R for small p."""
    window = (sqrt(1 + 6 * every) - 1) / 3
    return every / (rtt_s * (window + 1))


def read_independent(rtt_ms: int, ratio: float, count: int) -> Reading:
    """Run until so many losses have struck. The law is given the ratio that did strike."""
    seconds = count / ratio / independent(rtt_ms / 1e3, ratio)
    run = runs.download(
        {"air": runs.path(rtt_ms, runs.loss(ratio))}, seconds, seed=rtt_ms, tcp=RENO
    )
    packets = run.flows.filter(direction="down")["data_packets"].item()
    struck = runs.losses(run) / packets
    return Reading(independent(rtt_ms / 1e3, struck), runs.packets_per_s(run)["air"])


def read_periodic(rtt_ms: int, every: int, cycles: int) -> Reading:
    """Count from loss to loss, after the first fifth."""
    seconds = every / periodic(rtt_ms / 1e3, every) * cycles * 1.25
    lost = {"element": "periodic-loss", "every": f"{every} packets"}
    run = runs.download({"air": runs.path(rtt_ms, lost)}, seconds, tcp=RENO)
    drops = run.drops.filter(direction="down", reason="loss")["at_ns"].to_list()
    own = drops[len(drops) // 5 or 1 :]
    measured = (len(own) - 1) * every / ((own[-1] - own[0]) / 1e9)
    return Reading(periodic(rtt_ms / 1e3, every), measured)


LAW = Law(
    "reno",
    ("loss", "RTT", "losses"),
    "packets/s",
    (
        *(
            Case(
                (f"independent, {ratio:.2%}", f"{rtt} ms", str(count)),
                partial(read_independent, rtt, ratio, count),
                0.95,
                1.05,
                is_long=ratio < 1e-3,
            )
            for ratio, count in RANDOM
            for rtt in RTTS_MS
        ),
        *(
            Case(
                (f"every {every}th", f"{rtt} ms", str(cycles)),
                partial(read_periodic, rtt, every, cycles),
                1 - band,
                1 + band,
            )
            for every, cycles, band in PERIODS
            for rtt in RTTS_MS
        ),
    ),
)
