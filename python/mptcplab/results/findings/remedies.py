"""The remedies of findings as settings of a scenario, so that a simulation can try them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Remedy:
    """Settings as after ``--set``, and a description of them."""

    settings: tuple[str, ...]
    text: str
    #: Why it may give less than half of what was lost, or when; shown where it does.
    limit: str = ""
    #: It is tried where what was found lasted for so long.
    least_s: float = 0.0


GUARD = Remedy(
    # What it takes out joins again as a further subflow.
    ("mptcp.path_manager=guard", "mptcp.max_subflows=8"),
    "the path manager guard",
    "gives back what other paths waited, and none of what a dead path would have carried",
)
LOWEST_RTT = Remedy(("mptcp.scheduler=lowest-rtt",), "the scheduler lowest-rtt")
BLEST = Remedy(("mptcp.scheduler=blest",), "the scheduler blest")
BBR = Remedy(
    # Runs keep what plain TCP uses as a setting of its own.
    ("mptcp.congestion_control=bbr", "tcp.congestion_control=bbr"),
    "the congestion controller bbr",
)
BACK_OFF = Remedy(
    ("tcp.max_backoff=1",),
    "time-outs that double once at most",
    "gives back what was waited for after the path was back, and none of the outage",
    # Time-outs that have doubled for so long may outlast an outage by seconds.
    least_s=5.0,
)

USE_ALL = Remedy(
    ("mptcp.scheduler=lowest-rtt", "tcp.send_buffer=16MB"),
    "the scheduler lowest-rtt with a send buffer of 16 MB",
)

#: By kind.
REMEDIES: dict[str, Remedy] = {
    "receive_window": Remedy(
        ("tcp.receive_buffer_tuning=true", "tcp.max_receive_buffer=25MB"),
        "a receive buffer that grows, to 25 MB",
    ),
    "path_dead": GUARD,
    "backup_unused": GUARD,
    "path_back_unused": GUARD,
    "head_of_line": BLEST,
    "reinjection_waste": LOWEST_RTT,
    # With a small send buffer the scheduler that left it idle was right.
    "capacity_unused": USE_ALL,
    "path_left_out": Remedy(
        ("mptcp.max_subflows=8", "mptcp.max_add_addr_accepted=8"), "a limit of 8 subflows"
    ),
    "no_second_path": Remedy(("mptcp.path_manager=full-mesh",), "the path manager full-mesh"),
    "timeout_chain": BACK_OFF,
    "slow_start_early": Remedy(
        ("tcp.slow_start=standard",), "slow start until the first loss, without HyStart"
    ),
    "slow_start_loss": BBR,
    "path_unused": USE_ALL,
    "send_buffer": Remedy(("tcp.send_buffer=16MB",), "a send buffer of 16 MB"),
    "slower_than_single": BLEST,
    "losses_random": BBR,
    "losses_bursts": BBR,
    "losses_unclear": BBR,
    "bufferbloat": BBR,
}
