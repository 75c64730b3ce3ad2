"""BBR at a bottleneck: its rate, its queue, and its share beside others of its kind (Cardwell et al., ACM Queue 14-5, 2016)."""

from __future__ import annotations

from functools import cache, partial
from statistics import fmean

from experiments.laws import runs
from experiments.laws.law import Case, Law, Reading
from mptcplab.analysis import Analysis

SECONDS, SEEDS, SHARED_RTT_MS, EACH_MBPS = 60, range(1, 4), 40, 10
PATHS = ((10, 20), (10, 40), (10, 100), (50, 40))
PAYLOAD = 1448 / 1500
# Linux paces by 1 % less than it believes (bbr_pacing_margin_percent), and probes for 200 ms of every 10 s.
USED = 0.99 * (1 - 0.2 / 10)
# At most twice what the path holds is in flight (cwnd_gain): the queue is a round trip at most.
MOST = 2


@cache
def alone(rate_mbps: int, rtt_ms: int) -> Analysis:
    """Download over a path whose queue would hold four round trips."""
    return runs.download(
        {"one": link(rate_mbps, rtt_ms, 4 * rtt_ms)}, SECONDS, tcp={"congestion_control": "bbr"}
    )


def link(rate_mbps: int, rtt_ms: int, queue_ms: int) -> runs.Table:
    """Describe a link with a queue."""
    queue = {"queue": "drop-tail", "delay": f"{queue_ms} ms"}
    limit = {"element": "rate", "rate": f"{rate_mbps} Mbit/s", "queue": queue}
    return {direction: [limit, *elements] for direction, elements in runs.path(rtt_ms).items()}


def read_rate(rate_mbps: int, rtt_ms: int) -> Reading:
    """Compare with the path's rate, but for what it leaves on purpose."""
    return Reading(rate_mbps * PAYLOAD * USED, runs.mbps(alone(rate_mbps, rtt_ms)))


def read_rtt(rate_mbps: int, rtt_ms: int) -> Reading:
    """Compare the 95th percentile of round-trip times with the bound."""
    flows = alone(rate_mbps, rtt_ms).flows.filter(direction="down", connection=0)
    return Reading(MOST * rtt_ms, flows["rtt_ms_p95"].item())


def read_share(others: int) -> Reading:
    """Compare with an even share among flows alike."""
    rate = EACH_MBPS * (others + 1)
    traffic = {"link": "one", "kind": "tcp", "flows": others, "congestion_control": "bbr"}
    found = [
        runs.mbps(
            runs.download(
                {"one": link(rate, SHARED_RTT_MS, 100)},
                2 * SECONDS,
                seed=seed,
                tcp={"congestion_control": "bbr"},
                cross_traffic=[traffic],
            )
        )
        for seed in SEEDS
    ]
    return Reading(1 / (others + 1), fmean(found) / (rate * PAYLOAD))


LAW = Law(
    "bbr",
    ("what", "path"),
    "Mbit/s, ms or share",
    (
        *(
            Case(("rate", f"{rate} Mbit/s, {rtt} ms"), partial(read_rate, rate, rtt), 0.97, 1.03)
            for rate, rtt in PATHS
        ),
        *(
            Case(("RTT, p95", f"{rate} Mbit/s, {rtt} ms"), partial(read_rtt, rate, rtt), 0.5, 1.0)
            for rate, rtt in PATHS
        ),
        *(
            Case(
                (f"share beside {others} of its kind", f"{EACH_MBPS * (others + 1)} Mbit/s, 40 ms"),
                partial(read_share, others),
                0.88,
                1.12,
            )
            for others in (1, 3)
        ),
    ),
)
