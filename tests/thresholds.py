"""What a transfer leaves for the next one to the same destination: tcp_update_metrics of Linux."""

from __future__ import annotations

SCENARIO = """\
schema = 1

[transfer]
direction = "download"
size = "1 MB"

[path.lte]
rate = "8 Mbit/s"
delay = "20 ms"
queue = "{queue}"

[mptcp]
enabled = false

[tcp]
congestion_control = "reno"
ssthresh_cache = true

[kernel]
tcp_congestion_control = "reno"

[run]
baselines = false
sample = "1 ms"
"""
# So short that a slow start overflows it, and so long that none does.
QUEUES = {"overflows": "15 kB", "never fills": "4 MB"}


def left(cwnd: float, ssthresh: float | None) -> int | None:
    """The threshold that a calm connection leaves where there was none."""
    if ssthresh is None or cwnd <= ssthresh:
        return None
    return max(int(cwnd) // 2, int(ssthresh))
