"""Neighbours at a shared bottleneck."""

from __future__ import annotations

from experiments.engines.case import Case, lasting, mptcp, tcp


def bottleneck(*paths: str) -> str:
    """Write a link of 20 Mbit/s that these paths share."""
    rate = '{ element = "rate", rate = "20 Mbit/s", queue = { queue = "drop-tail", bytes = "125 kB" } }'
    delay = '{ element = "delay", delay = "20 ms" }'
    named = "\n".join(f'[path.{path}]\nlink = "bottleneck"' for path in paths)
    return f"""
[link.bottleneck]
uplink = [{rate}, {delay}]
downlink = [{rate}, {delay}]
{named}
"""


def neighbour(what: str) -> str:
    """Write cross traffic there."""
    return f'[[cross_traffic]]\nlink = "bottleneck"\n{what}'


def _one(name: str, controller: str, rival: str) -> Case:
    text = tcp(controller, lasting("12 s"), bottleneck("one"), more=neighbour(rival))
    return Case(name, "sharing", text, is_drawn=True)


def _two(name: str, controller: str, rival: str, cause: str = "") -> Case:
    text = mptcp(controller, lasting("12 s"), bottleneck("one", "two"), more=neighbour(rival))
    return Case(name, "sharing", text, is_multipath=True, is_drawn=True, cause=cause)


# Sixteen runs with each jitter.
PUNCTUAL = (
    "the simulated link is never late. With jitter of 0.25 ms the simulation has a share of 56.9 % (47 to 72), 10.7 Mbit/s and a delay of 30.6 ms, with 0.5 ms "
    "59.8 %, 10.9 Mbit/s and 27.1 ms. Why that moves the share was not looked at"
)
RENO = 'kind = "tcp"\ncongestion_control = "reno-linux"'
CUBIC = 'kind = "tcp"\ncongestion_control = "cubic-linux"'
CASES = (
    _one("reno beside a flow of Reno", "reno-linux", RENO),
    _one("cubic beside a flow of Reno", "cubic-linux", RENO),
    _one("cubic beside a flow of CUBIC", "cubic-linux", CUBIC),
    _one("cubic beside two flows of CUBIC", "cubic-linux", CUBIC + "\nflows = 2"),
    _one(
        "cubic beside a flow of CUBIC that comes at 4 s", "cubic-linux", CUBIC + '\nstart = "4 s"'
    ),
    _one("cubic beside datagrams of 8 Mbit/s", "cubic-linux", 'kind = "udp"\nrate = "8 Mbit/s"'),
    _two("two subflows beside a flow of Reno", "reno-linux", RENO),
    _two("two subflows beside a flow of CUBIC", "cubic-linux", CUBIC, cause=PUNCTUAL),
)
