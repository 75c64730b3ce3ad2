"""What lies between the two hosts on one path."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Path:
    """One interface of the client and all that its frames meet on the way to the server.

    Without `rtt_ms` there is no forwarder: the hosts face each other and the rates are kept by tbf.
    """

    name: str
    rtt_ms: float | None
    down_mbps: float
    up_mbps: float
    queue_bytes: int
    loss_percent: float = 0.0
    blackout_s: tuple[float, float] | None = None
    strips_mptcp: bool = False
