"""Losses of a captured transfer that no full queue made."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
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
    #: Packets that were lost when it had none, and the others.
    at_full_queue: int
    while_it_had_room: int

    @property
    def mostly_at_full_queue(self) -> bool:
        """Whether the queue overflowed: of losses by chance some come when round trips are long."""
        return self.at_full_queue > self.while_it_had_room


def apart(
    tables: _core.Tables, flow: dict[str, Any], outages: Sequence[tuple[float, float]] = ()
) -> Losses:
    """Separate what the link of a flow lost from what a full queue dropped.

    The last round-trip time before a packet is sent again is that of the packet before it, and so
    says how full the queue was. Losses while it had room are set against the packets of that time.
    What is sent again in ``outages``, spans from the captures' first packet in seconds, is theirs.
    """
    samples = [(row["at_s"], row["rtt_ms"]) for row in of_flow(flow, tables, "rtt")]
    least_ms = flow["rtt_ms_min"]
    full_ms = least_ms + FULL * (flow["rtt_ms_p99"] - least_ms)
    times = [at for at, _ in samples]
    lost = [
        row["at_s"]
        for row in of_flow(flow, tables, "events")
        if row["event"] in RESENT
        and samples
        and not any(from_s <= row["at_s"] <= to_s for from_s, to_s in outages)
    ]
    resent = [at for at in lost if samples[max(0, bisect_left(times, at) - 1)][1] < full_ms]
    roomy = sum(rtt_ms < full_ms for _, rtt_ms in samples) / max(1, len(samples))
    packets = roomy * flow["data_packets"]
    percent = 100 * len(resent) / packets if packets else 0.0
    at_once = _at_once(resent, flow["rtt_ms_mean"] / 1000)
    return Losses(percent, at_once, len(lost) - len(resent), len(resent))


def of_flow(flow: dict[str, Any], tables: _core.Tables, name: str) -> list[dict[str, Any]]:
    """Give the rows of a table that are about a flow."""
    keys = ("subflow", "direction")
    rows = tables.rows(name, connection=flow["connection"])
    return [row for row in rows if all(row[key] == flow[key] for key in keys)]


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
