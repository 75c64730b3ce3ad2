"""Losses of a captured transfer that no full queue made."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from statistics import median
from typing import Any

from mptcplab import _core

RESENT = ("retransmission", "timeout")
# A queue that is filled to this part is as good as full.
FULL = 0.9


@dataclass(frozen=True)
class Losses:
    """What is lost while the queue has room."""

    percent: float
    #: Packets that are lost at once, most often; none where nothing is lost.
    burst_packets: float | None


def apart(tables: _core.Tables, transfer: dict[str, Any], flow: dict[str, Any]) -> Losses:
    """Separate what the link lost from what a full queue dropped.

    The last round-trip time before a packet is sent again is that of the packet before it, and so
    says how full the queue was. Losses while it had room are set against the packets of that time.
    """
    samples = [
        (row["at_s"], row["rtt_ms"])
        for row in tables.rows("rtt", connection=transfer["connection"])
        if row["direction"] == transfer["direction"]
    ]
    least_ms = flow["rtt_ms_min"]
    full_ms = least_ms + FULL * (transfer["rtt_ms_p99"] - least_ms)
    times = [at for at, _ in samples]
    resent = [
        at
        for at in _resent(tables, transfer)
        if samples and samples[max(0, bisect_left(times, at) - 1)][1] < full_ms
    ]
    roomy = sum(rtt_ms < full_ms for _, rtt_ms in samples) / max(1, len(samples))
    packets = roomy * flow["data_packets"]
    percent = 100 * len(resent) / packets if packets else 0.0
    return Losses(percent, _at_once(resent, transfer["rtt_ms_mean"] / 1000))


def _resent(tables: _core.Tables, transfer: dict[str, Any]) -> list[float]:
    return [
        event["at_s"]
        for event in tables.rows("events", connection=transfer["connection"])
        if event["event"] in RESENT and event["direction"] == transfer["direction"]
    ]


def _at_once(resent: list[float], rtt_s: float) -> float | None:
    """Give how many packets are sent again within a round trip, most often."""
    sizes: list[int] = []
    last = 0.0
    for at in resent:
        if sizes and at - last < rtt_s:
            sizes[-1] += 1
        else:
            sizes.append(1)
            last = at
    return median(sizes) if sizes else None
