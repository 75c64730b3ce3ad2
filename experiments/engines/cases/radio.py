"""What radios do: traces with outages and deep queues, jitter and reordering, slow uplinks."""

from __future__ import annotations

import random

from experiments.engines.case import Case, Path, bulk, mptcp, tcp

WIFI = Path(20, 25, 100)


def trace(
    seed: int, seconds: int, rates_mbps: tuple[float, float], outage_s: float, every_s: float
) -> list[int]:
    """Make a trace of opportunities for 1500 bytes, in milliseconds.

    The rate changes each 200 ms, by a lognormal step within the two given; outages last
    exponential times with one mean and come after exponential times with another. So do
    cellular links that were recorded (Winstein et al., NSDI 2013, figure 1).
    """
    chance = random.Random(seed)
    low, high = rates_mbps
    rate = (low * high) ** 0.5
    opportunities: list[int] = []
    outage_at, outage_end, owed = chance.expovariate(1 / every_s), -1.0, 0.0
    for at_ms in range(seconds * 1000):
        if at_ms % 200 == 0:
            rate = min(max(rate * chance.lognormvariate(0, 0.4), low), high)
        if at_ms / 1000 >= outage_at:
            outage_end = outage_at + chance.expovariate(1 / outage_s)
            outage_at = outage_end + chance.expovariate(1 / every_s)
        if at_ms / 1000 >= outage_end:
            owed += rate * 1e6 / 1000 / 8 / 1500
        opportunities += [at_ms + 1] * int(owed)
        owed %= 1
    return opportunities


def _driven(
    name: str, opportunities: list[int], rtt_ms: float, queue_kb: int, uplink_mbps: float
) -> str:
    queue = f'queue = {{ queue = "drop-tail", bytes = "{queue_kb} kB" }}'
    delay = f'{{ element = "delay", delay = "{rtt_ms / 2:g} ms" }}'
    return f"""
[link.{name}]
uplink = [
  {{ element = "rate", rate = "{uplink_mbps:g} Mbit/s", {queue} }},
  {delay},
]
downlink = [
  {{ element = "trace", trace = {opportunities}, {queue} }},
  {delay},
]
[path.{name}]
link = "{name}"
"""


LTE = (trace(1, 30, (1.5, 30), 0.6, 8), 50, 900, 5)
EVDO = (trace(2, 40, (0.3, 2.5), 1.2, 8), 120, 300, 0.7)
SMOOTH = (trace(3, 30, (4, 20), 0.1, 1000), 50, 500, 5)


def _jitter(reorder: str, correlation: str = "") -> str:
    delay = f'{{ element = "delay", delay = "30 ms", jitter = "10 ms"{reorder}{correlation} }}'
    rate = '{ element = "rate", rate = "20 Mbit/s", queue = { queue = "drop-tail", bytes = "200 kB" } }'
    return f"""
[link.one]
uplink = [{rate}, {delay}]
downlink = [{rate}, {delay}]
[path.one]
link = "one"
"""


def _driven_case(name: str, links: str, transfer: str, *, several: bool, cause: str = "") -> Case:
    text = mptcp("cubic-linux", transfer, links) if several else tcp("cubic-linux", transfer, links)
    return Case(name, "radio", text, is_multipath=several, cause=cause)


def _uplink(name: str, controller: str, path: Path, size_mb: float) -> Case:
    text = tcp(controller, bulk(f"{size_mb:g} MB"), path)
    return Case(name, "radio", text)


# Sixteen runs with each jitter; with 0.5 ms 3.97 Mbit/s.
LAST = (
    "the transfer ends when the slow path has brought what it was given, at 0.6 Mbit/s. In the simulation these are 13 to 15 % of the data, in the kernel 14 to 22 %, and "
    "runs are the slower the more they are. The emulator's lateness makes the difference: with jitter of 0.25 ms the simulation gives the slow path 14 to 20 %, and has 3.14 to "
    "4.52 Mbit/s, 3.99 on average; with 2 ms 14 to 22 %, and 3.54 Mbit/s"
)
SLOW_UPLINK = Path(20, 40, 100, uplink_mbps=0.3)
CASES = (
    _driven_case(
        "driven by a trace like LTE's", _driven("one", *LTE), bulk("16 MB"), several=False
    ),
    _driven_case(
        "driven by a trace like EVDO's", _driven("one", *EVDO), bulk("2 MB"), several=False
    ),
    _driven_case(
        "driven by a trace without outages", _driven("one", *SMOOTH), bulk("14 MB"), several=False
    ),
    _driven_case(
        "Wi-Fi beside a trace like LTE's",
        WIFI.toml("one") + _driven("two", *LTE),
        bulk("40 MB"),
        several=True,
    ),
    _driven_case(
        "Wi-Fi beside a trace like EVDO's",
        WIFI.toml("one") + _driven("two", *EVDO),
        bulk("32 MB"),
        several=True,
    ),
    _driven_case(
        "two paths driven by traces",
        _driven("one", *LTE) + _driven("two", *EVDO),
        bulk("16 MB"),
        several=True,
        cause=LAST,
    ),
    _uplink("20 Mbit/s down, 300 kbit/s up", "cubic-linux", SLOW_UPLINK, 16),
    _uplink(
        "20 Mbit/s down, 150 kbit/s up", "cubic-linux", Path(20, 40, 100, uplink_mbps=0.15), 10
    ),
    _uplink("reno, 20 Mbit/s down, 300 kbit/s up", "reno-linux", SLOW_UPLINK, 16),
    Case(
        "two paths with slow uplinks",
        "radio",
        mptcp(
            "cubic-linux",
            bulk("24 MB"),
            (Path(20, 40, 100, uplink_mbps=0.5), Path(10, 60, 150, uplink_mbps=0.25)),
        ),
        is_multipath=True,
    ),
    Case(
        "reordering by jitter of 10 ms",
        "radio",
        tcp("cubic-linux", bulk("12 MB"), _jitter(", reorder = true")),
        is_drawn=True,
    ),
    Case(
        "jitter of 10 ms in order",
        "radio",
        tcp("cubic-linux", bulk("12 MB"), _jitter("")),
        is_drawn=True,
    ),
    Case(
        "slow jitter of 10 ms in order",
        "radio",
        tcp("cubic-linux", bulk("16 MB"), _jitter("", ', correlation = "200 ms"')),
        is_drawn=True,
    ),
    Case(
        "two paths with jitter of 3 ms",
        "radio",
        mptcp(
            "cubic-linux",
            bulk("24 MB"),
            (Path(20, 25, 100, jitter_ms=3), Path(8, 60, 150, jitter_ms=3)),
        ),
        is_multipath=True,
        is_drawn=True,
    ),
)
