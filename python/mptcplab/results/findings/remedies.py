"""What a finding's remedy is as settings of a scenario, so that a simulation can try it."""

from __future__ import annotations

GUARD = (("mptcp.path_manager=guard",), "the path manager guard")

#: By kind: settings as after ``--set``, and what they are in words. PATH stands for the path.
REMEDIES: dict[str, tuple[tuple[str, ...], str]] = {
    "receive_window": (
        ("tcp.receive_buffer_tuning=true", "tcp.max_receive_buffer=25MB"),
        "a receive buffer that grows, to 25 MB",
    ),
    "path_dead": GUARD,
    "backup_unused": GUARD,
    "path_back_unused": GUARD,
    "head_of_line": (("mptcp.scheduler=blest",), "the scheduler blest"),
    "reinjection_waste": (("mptcp.scheduler=lowest-rtt",), "the scheduler lowest-rtt"),
    "no_second_path": (("mptcp.path_manager=full-mesh",), "the path manager full-mesh"),
    "timeout_chain": (("tcp.max_backoff=1",), "time-outs that double once at most"),
    "path_unused": (("mptcp.scheduler=lowest-rtt",), "the scheduler lowest-rtt"),
    "slower_than_single": (("mptcp.scheduler=blest",), "the scheduler blest"),
    "losses_random": (("mptcp.congestion_control=bbr",), "the congestion controller bbr"),
    "losses_bursts": (("mptcp.congestion_control=bbr",), "the congestion controller bbr"),
    "bufferbloat": (("mptcp.congestion_control=bbr",), "the congestion controller bbr"),
}
