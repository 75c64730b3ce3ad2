"""BLEST and ECF on asymmetric paths, and penalisation, beside lowest round-trip time first with the same buffer.

Ferlin et al., BLEST (IFIP Networking 2016); Lim et al., ECF (CoNEXT 2017); Raiciu et al., NSDI 2012 §4.2 (opportunistic
retransmission and penalisation): each claims to do no worse.
"""

from __future__ import annotations

from functools import cache, partial
from statistics import fmean

from experiments.laws import buffer, runs
from experiments.laws.buffer import LOWEST_RTT, Sender
from experiments.laws.law import Case, Law, Reading

REQUESTS = {
    "application": "request-response",
    "direction": "download",
    "request": "300 B",
    "response": "300 kB",
    "requests": 40,
    "think": "200 ms",
}
# As the kernel's, which lets λ fall to 1 and not below, but for that.
LOWER = (("lambda", 1.0), ("least_lambda", 0.2))
SENDERS = {
    "blest": Sender("blest"),
    "blest, λ from 0.2": Sender("blest", parameters=LOWER),
    "ecf": Sender("ecf"),
    "opportunistic": Sender("lowest-rtt", ("opportunistic_retransmission",)),
    "opportunistic, penalising": Sender(
        "lowest-rtt", ("opportunistic_retransmission", "penalisation")
    ),
}
BUFFERS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
NOT_WORSE = 0.98
# What is less than that, and how much: the page says why.
FOUND = {("blest", 1 / 4): 0.96, ("blest, λ from 0.2", 1 / 4): 0.95}


@cache
def responses_mbps(sender: Sender) -> float:
    """Give the mean throughput of requests and responses with a plentiful buffer."""
    return fmean(
        runs.mbps(runs.download(buffer.LINKS, 60, seed=seed, mptcp=sender.mptcp, transfer=REQUESTS))
        for seed in buffer.SEEDS
    )


def read_bulk(name: str, buffers: float) -> Reading:
    """Compare as much as the network takes."""
    return Reading(buffer.mbps(LOWEST_RTT, buffers), buffer.mbps(SENDERS[name], buffers))


def read_responses(name: str) -> Reading:
    """Compare responses, which end before the slow path's share of them has come."""
    return Reading(responses_mbps(LOWEST_RTT), responses_mbps(SENDERS[name]))


LAW = Law(
    "schedulers",
    ("policy", "transfer", "buffer / rule"),
    "Mbit/s",
    (
        *(
            Case(
                (name, "bulk", f"{buffers:g}"),
                partial(read_bulk, name, buffers),
                FOUND.get((name, buffers), NOT_WORSE),
                is_found=(name, buffers) in FOUND,
            )
            for name in SENDERS
            for buffers in BUFFERS
        ),
        *(
            Case((name, "responses", "plenty"), partial(read_responses, name), NOT_WORSE)
            for name in ("blest", "ecf")
        ),
    ),
)
