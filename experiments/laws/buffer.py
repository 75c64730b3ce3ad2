"""How large must the receive buffer be? The rule of RFC 8684 §3.3.5 and RFC 6182 §4.2: twice the sum of rates times the longest RTT."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from statistics import fmean

from experiments.laws import runs
from experiments.laws.law import Case, Law, Reading

SECONDS = 30
# Of three the mean is off by up to 2 %, which is what schedulers are held to.
SEEDS = range(1, 13)
PLENTY = 8.0


@dataclass(frozen=True)
class Path:
    """A path with a queue of one BDP, which doubles its round trip at most, and a little loss."""

    rate_mbps: float
    rtt_ms: float
    ratio: float = 5e-4

    @property
    def longest_s(self) -> float:
        """Give its round-trip time with a full queue."""
        return 2 * self.rtt_ms / 1e3

    def link(self) -> runs.Table:
        """Describe its link."""
        queue = {"queue": "drop-tail", "delay": f"{self.rtt_ms:g} ms"}
        rate = {"element": "rate", "rate": f"{self.rate_mbps:g} Mbit/s", "queue": queue}
        plain = runs.path(self.rtt_ms, runs.loss(self.ratio))
        return {direction: [rate, *elements] for direction, elements in plain.items()}


PATHS = {"fast": Path(20, 20), "slow": Path(5, 100)}
LINKS = {name: path.link() for name, path in PATHS.items()}


@dataclass(frozen=True)
class Sender:
    """What decides where data goes."""

    scheduler: str
    helps: tuple[str, ...] = ()
    # Names and numbers.
    parameters: tuple[tuple[str, float], ...] = ()

    @property
    def mptcp(self) -> runs.Table:
        """Say it in a scenario."""
        policies: runs.Table = {"congestion_control": "reno", "scheduler": self.scheduler}
        if self.parameters:
            policies["scheduler_parameters"] = dict(self.parameters)
        helps = ("opportunistic_retransmission", "penalisation")
        return policies | {name: name in self.helps for name in helps}


LOWEST_RTT = Sender("lowest-rtt")


def rule_bytes() -> float:
    """Give 2·ΣBW·RTTmax."""
    together = sum(path.rate_mbps for path in PATHS.values()) * 1e6 / 8
    return 2 * together * max(path.longest_s for path in PATHS.values())


@cache
def mbps(sender: Sender, buffers: float) -> float:
    """Give the mean throughput over some seeds, with a buffer of so many times the rule."""
    # The rule counts bytes of data, and all from the beginning.
    held = {
        "receive_buffer": f"{rule_bytes() * buffers:.0f} B",
        "receive_buffer_tuning": False,
        "adv_win_scale": 31,
    }
    return fmean(
        runs.mbps(runs.download(LINKS, SECONDS, seed=seed, mptcp=sender.mptcp, tcp=held))
        for seed in SEEDS
    )


def read(buffers: float) -> Reading:
    """Compare with plenty."""
    return Reading(mbps(LOWEST_RTT, PLENTY), mbps(LOWEST_RTT, buffers))


# Times the rule, and the part of what a plentiful buffer gives: all of it from the rule on, less below its half. How much
# less no rule says: where the slow path holds the window, what fits goes once in its round trip.
BUFFERS = (
    (1 / 32, 0.0, 0.7),
    (1 / 16, 0.0, 0.7),
    (1 / 8, 0.0, 0.9),
    (1 / 4, 0.0, 0.98),
    (1 / 2, 0.93, 1.0),
    (1.0, 0.98, 1.02),
    (2.0, 0.98, 1.02),
)

LAW = Law(
    "buffer",
    ("buffer / rule",),
    "Mbit/s",
    tuple(
        Case((f"{buffers:g}",), partial(read, buffers), low, high) for buffers, low, high in BUFFERS
    ),
)
