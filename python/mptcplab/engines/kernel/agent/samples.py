"""Samples of a connection: the state of its subflows in the kernel, a line for each."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple, TextIO

from mptcplab.engines.kernel.agent.diagnosis import Fields, Information, Policy, Tuple
from mptcplab.engines.kernel.agent.sockets import attempt

Row = dict[str, Any]


class Look(NamedTuple):
    """What was seen of a connection at a time."""

    information: Information
    policies: dict[Tuple, Policy]


class Series:
    """A connection's samples, without those that equal the ones before and after them.

    So nothing changed between two that are equal, and the last one is always there.
    """

    def __init__(self, host: str, file: TextIO) -> None:
        self._host = host
        self._file = file
        self._last: Look | None = None
        self._token: int | None = None
        #: When it was last the same, if that is not written.
        self._held_ns: int | None = None

    def add(self, at_ns: int, token: int | None, look: Look) -> None:
        """Add a sample, later than the one before it."""
        if look == self._last:
            self._held_ns = at_ns
            return
        self.end()
        self._last, self._token = look, token
        self._write(look, at_ns)

    def end(self) -> None:
        """Write the last one, if it is not yet written."""
        if self._last is not None and self._held_ns is not None:
            self._write(self._last, self._held_ns)
        self._held_ns = None

    def _write(self, look: Look, at_ns: int) -> None:
        information, policies = look
        shared = {"host": self._host, "token": self._token}
        rows = (
            {**shared, "local": one.ends[0], "remote": one.ends[1], "ids": policies[one.ends].ids}
            | row(information, one.tcp, policies[one.ends])
            | {"at_ns": at_ns}
            for one in information.subflows
        )
        write(self._file, rows)


def write(file: TextIO, rows: Iterable[Row]) -> None:
    """Write a line of JSON for each."""
    with attempt(f"to write {file.name}"):
        for one in rows:
            file.write(json.dumps(one) + "\n")


CONGESTION_STATES = ["open", "disorder", "cwr", "recovery", "loss"]
# The subflow's handshake goes on.
SYN_SENT, SYN_RECEIVED = 2, 3
INFINITE_SSTHRESH = 0x7FFF_FFFF
NO_RTT = 0xFFFF_FFFF
NO_RATE = 0xFFFF_FFFF_FFFF_FFFF
APPLICATION_LIMITED = 1 << 0
# Units in a millisecond, and in a Mbit/s.
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
