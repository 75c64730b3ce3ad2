"""A sample of a subflow: what the kernel says, as a row of ``state``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.engines.kernel.agent.diagnosis import Policy
    from mptcplab.engines.kernel.agent.information import Fields, Information

    Row = dict[str, Any]

CONGESTION_STATES = ["open", "disorder", "cwr", "recovery", "loss"]
# The subflow's handshake goes on.
SYN_SENT, SYN_RECEIVED = 2, 3
INFINITE_SSTHRESH = 0x7FFF_FFFF
NO_RTT = 0xFFFF_FFFF
NO_RATE = 0xFFFF_FFFF_FFFF_FFFF
APPLICATION_LIMITED = 1 << 0
# So many are a millisecond, or a Mbit/s.
MICROSECONDS = 1000
BYTES_PER_SECOND = 125_000


def row(information: Information, tcp: Fields, policy: Policy) -> Row:
    """Give the columns that say something, without those of time and place."""
    found = {
        "timeout_ms": _scaled(tcp["rto"], MICROSECONDS),
        "backoffs": tcp["backoff"],
        "retransmitted_packets": tcp["total_retrans"],
        "congestion_control": policy.congestion_control,
        **_connection(information, tcp),
    }
    if tcp["state"] not in (SYN_SENT, SYN_RECEIVED):
        found |= {"backup": policy.backup, **_sender(tcp)}
    return {name: value for name, value in found.items() if value is not None}


def _sender(tcp: Fields) -> Row:
    ssthresh, min_rtt, pacing = tcp["snd_ssthresh"], tcp["min_rtt"], tcp["pacing_rate"]
    sampled = bool(tcp["rtt"])
    delivers = bool(tcp["delivery_rate"])
    flags = tcp["delivery_flags"] or 0
    return {
        "cwnd_packets": tcp["snd_cwnd"],
        "ssthresh_packets": None if ssthresh == INFINITE_SSTHRESH else _scaled(ssthresh, 1),
        "srtt_ms": _scaled(tcp["rtt"], MICROSECONDS) if sampled else None,
        "rttvar_ms": _scaled(tcp["rttvar"], MICROSECONDS) if sampled else None,
        "pacing_mbps": _scaled(pacing, BYTES_PER_SECOND) if sampled and pacing != NO_RATE else None,
        "in_flight_packets": _in_flight(tcp),
        "queued_bytes": tcp["notsent_bytes"],
        "congestion_state": CONGESTION_STATES[tcp["ca_state"] or 0],
        "min_rtt_ms": None if min_rtt == NO_RTT else _scaled(min_rtt, MICROSECONDS),
        "delivery_mbps": _scaled(tcp["delivery_rate"], BYTES_PER_SECOND) if delivers else None,
        "delivery_limited": bool(flags & APPLICATION_LIMITED) if delivers else None,
        "sacked_packets": tcp["sacked"],
        "lost_packets": tcp["lost"],
        "sent_bytes": tcp["bytes_sent"],
        "retransmitted_bytes": tcp["bytes_retrans"],
        "acknowledged_bytes": tcp["bytes_acked"],
        "received_bytes": tcp["bytes_received"],
        "busy_ms": _scaled(tcp["busy_time"], MICROSECONDS),
        "window_limited_ms": _scaled(tcp["rwnd_limited"], MICROSECONDS),
        "buffer_limited_ms": _scaled(tcp["sndbuf_limited"], MICROSECONDS),
    }


def _in_flight(tcp: Fields) -> int | None:
    """Count what is in the network, as the kernel's tcp_packets_in_flight."""
    unacked, sacked, lost, retrans = (
        tcp[name] for name in ("unacked", "sacked", "lost", "retrans")
    )
    if unacked is None or sacked is None or lost is None or retrans is None:
        return None
    return max(0, unacked - sacked - lost + retrans)


def _connection(information: Information, tcp: Fields) -> Row:
    mptcp = information.mptcp
    if mptcp is None:
        fallback = {"fallback": True} if information.fallback else {}
        return {"peer_window_bytes": tcp["snd_wnd"], **fallback}
    written, acknowledged = mptcp["write_seq"], mptcp["snd_una"]
    known = written is not None and acknowledged is not None
    return {
        "unacknowledged_bytes": (written or 0) - (acknowledged or 0) if known else None,
        "connection_sent_bytes": mptcp["bytes_sent"],
        "connection_retransmitted_bytes": mptcp["bytes_retrans"],
        "connection_acknowledged_bytes": mptcp["bytes_acked"],
        "connection_received_bytes": mptcp["bytes_received"],
        "fallback": information.fallback,
    }


def _scaled(number: int | None, parts: int) -> float | None:
    return None if number is None else number / parts
