"""wVegas after a handover to a longer path: its least round-trip time never ages (``mptcp_wvegas.c``).

It keeps alpha packets in the queue that it believes in: w·(R − base)/R = alpha, so that w/R = alpha/(R − base), whatever
the path's rate is.
"""

from __future__ import annotations

from functools import partial
from statistics import fmean

from experiments.laws import runs
from experiments.laws.law import Case, Law, Reading

RATE_MBPS, BEFORE_MS, ALPHA = 20, 20, 10
HANDOVER_S, SECONDS, SETTLED_S = 20, 60, 40
MSS_BITS = 8 * 1428


def rate(after_ms: int) -> float:
    """Give Mbit/s after a handover to that round-trip time: one subflow has the whole of total_alpha."""
    return ALPHA / ((after_ms - BEFORE_MS) / 1e3) * MSS_BITS / 1e6


def link(rtt_ms: int) -> runs.Table:
    """Describe the link before or after."""
    queue = {"queue": "drop-tail", "delay": "100 ms"}
    limit = {"element": "rate", "rate": f"{RATE_MBPS} Mbit/s", "queue": queue}
    return {direction: [limit, *elements] for direction, elements in runs.path(rtt_ms).items()}


def read(controller: str, after_ms: int, foreseen: float) -> Reading:
    """Give the mean throughput once the handover is long over."""
    moved = {"at": f"{HANDOVER_S} s", "path": "one", "verb": "profile"} | link(after_ms)
    run = runs.download(
        {"one": link(BEFORE_MS)},
        SECONDS,
        mptcp={"congestion_control": controller},
        timeline=[moved],
    )
    bins = run.throughput.filter(connection=0, subflow=0, direction="down")
    settled = [
        mbps
        for at_s, mbps in bins.select("at_s", "throughput_mbps").iter_rows()
        if SETTLED_S <= at_s < SECONDS - 1
    ]
    return Reading(foreseen, fmean(settled))


WHOLE = RATE_MBPS * 1428 / 1500

LAW = Law(
    "rerouting",
    ("controller", "RTT after"),
    "Mbit/s",
    (
        *(
            Case(("wvegas", f"{rtt} ms"), partial(read, "wvegas", rtt, rate(rtt)), 0.98, 1.12)
            for rtt in (60, 100, 200)
        ),
        Case(("wvegas", "20 ms"), partial(read, "wvegas", BEFORE_MS, WHOLE), 0.88, 1.02),
        Case(("lia", "100 ms"), partial(read, "lia", 100, WHOLE), 0.9, 1.05),
    ),
)
