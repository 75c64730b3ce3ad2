"""Two subflows through one bottleneck beside k Reno flows: a coupled connection takes what one of them takes (RFC 6356 §2)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import fmean

from experiments.laws import runs
from experiments.laws.law import Case, Law, Reading

SECONDS = 60
SEEDS = range(1, 6)
PER_FLOW_MBPS = 10
# What headers leave of a packet.
PAYLOAD = 1428 / 1500


def one_of(flows: int) -> float:
    """Give the share of a connection that counts as one."""
    return 1 / (flows + 1)


def two_of(flows: int) -> float:
    """Give the share of a connection whose subflows count as one each."""
    return 2 / (flows + 2)


def read(controller: str, flows: int, law: Callable[[int], float]) -> Reading:
    """Give the mean share over some seeds; the bottleneck has 10 Mbit/s for each that counts as one."""
    rate = PER_FLOW_MBPS * (flows + 1)
    queue = {"queue": "drop-tail", "delay": "50 ms"}
    elements = [
        {"element": "rate", "rate": f"{rate} Mbit/s", "queue": queue},
        {"element": "delay", "delay": "20 ms", "jitter": "1 ms"},
    ]
    link = {"link": "bottleneck"}
    found = [
        runs.mbps(
            runs.download(
                {"bottleneck": {"uplink": elements, "downlink": elements}},
                SECONDS,
                seed=seed,
                mptcp={"congestion_control": controller},
                path={"left": link, "right": link},
                cross_traffic=[
                    link | {"kind": "tcp", "flows": flows, "congestion_control": "reno"}
                ],
            )
        )
        for seed in SEEDS
    ]
    return Reading(law(flows), fmean(found) / (rate * PAYLOAD))


CONTROLLERS = {"reno": two_of, "lia": one_of, "olia": one_of, "balia": one_of, "ewtcp": one_of}

LAW = Law(
    "bottleneck",
    ("controller", "Reno flows beside"),
    "share",
    tuple(
        Case((controller, str(flows)), partial(read, controller, flows, law), 0.88, 1.12)
        for controller, law in CONTROLLERS.items()
        for flows in (1, 2, 4)
    ),
)
