"""Watches connections: samples, signals of path management, counters."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

from mptcplab.engines.kernel.agent.connection import Connection
from mptcplab.engines.kernel.agent.diagnosis import (
    Diagnosis,
    Fields,
    ForeignConnection,
    ForeignSockets,
    Information,
    Policy,
    Reader,
    Tuple,
)
from mptcplab.engines.kernel.agent.job import WATCHING, Job
from mptcplab.engines.kernel.agent.loop import IN, Loop, now
from mptcplab.engines.kernel.agent.path_manager import Events
from mptcplab.engines.kernel.agent.sockets import attempt

Row = dict[str, Any]

# Which groups of counters stand in which file.
FILES = {"netstat": ("TcpExt", "MPTcpExt"), "snmp": ("Tcp",)}
# What stands among them and counts nothing.
SETTINGS = {"TcpRtoAlgorithm", "TcpRtoMin", "TcpRtoMax", "TcpMaxConn"}


def read() -> dict[str, int]:
    """Read them; a kernel without MPTCP has none of its."""
    found = {}
    for file, groups in FILES.items():
        lines = Path("/proc/net", file).read_text("ascii").splitlines()
        # Two lines each: names, values.
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            group, *words = names.split()
            if group.rstrip(":") in groups:
                pairs = zip(words, values.split()[1:], strict=True)
                found.update({group.rstrip(":") + name: int(value) for name, value in pairs})
    return {name: value for name, value in found.items() if name not in SETTINGS}


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


# How often sockets are looked at for what they use where nobody asked for samples.
LOOK_NS = 10**9


class Observer:
    """Listens from when it is made."""

    def __init__(self, loop: Loop, job: Job) -> None:
        self._loop = loop
        self._job = job
        self._reader = Reader()
        self._diagnosis = Diagnosis()
        # Others' connections count where we have none.
        self._foreign = ForeignSockets() if job.application == WATCHING else None
        self._open: dict[Connection, Used] = {}
        self._known: dict[int | Tuple, Used] = {}
        self._used: list[Used] = []
        self._samples = _file(job.samples)
        self._signals = _file(job.events)
        self._before = read() if job.counters else {}
        self._events = Events() if job.events else None
        if self._events is not None:
            loop.watch(self._events.fileno(), IN, self._heard)

    def start(self, at: int) -> None:
        """Look at what is open, from a time on."""
        period = self._job.sample_ns or LOOK_NS
        self._loop.at(at + period, lambda: self._look(at + period, period))

    def opened(self, connection: Connection) -> None:
        """A connection is established."""
        self._open[connection] = Used()
        self._used.append(self._open[connection])
        self._note(connection)

    def closing(self, connection: Connection) -> None:
        """A socket is there for the last time."""
        if connection in self._open:
            self._note(connection)
            del self._open[connection]

    def alive(self) -> int:
        """Count the sockets of TCP that are open or closing: ours, where there are others'."""
        if not self._job.shared:
            return self._diagnosis.alive()
        return self._diagnosis.alive({ends for used in self._used for ends in used.ends})

    def counted(self) -> list[list[dict[str, Any]]]:
        """Give what TCP counted on the subflows of each connection."""
        return [used.counted() for used in self._used]

    def finish(self) -> list[dict[str, Any]]:
        """Complete the files; gives what sockets used."""
        if self._events is not None:
            self._heard(IN)
        if self._job.counters:
            after = read()
            rows = [
                {"host": self._job.host, "counter": name, "before": before, "after": after[name]}
                for name, before in self._before.items()
            ]
            counted = _opened(self._job.counters)
            _write(counted, rows)
            _close(counted)
        for written in (self._samples, self._signals):
            if written is not None:
                _close(written)
        return [used.said() for used in self._used]

    def _look(self, at: int, period: int) -> None:
        at_ns = time.time_ns()
        looks = [self._read(connection) for connection in list(self._open)]
        if self._foreign is not None:
            looks += [self._foreign_rows(one) for one in self._foreign.read()]
        for rows in looks:
            if self._samples is not None and self._job.sample_ns:
                _write(self._samples, ({**row, "at_ns": at_ns} for row in rows))
        # Those whose time is over are left out.
        after = at + period * max(1, -((at - now()) // period))
        self._loop.at(after, lambda: self._look(after, period))

    def _note(self, connection: Connection) -> None:
        """Look at a connection at its beginning or end, and sample it then where it is shared."""
        rows = self._read(connection)
        if self._job.shared and self._samples is not None:
            at_ns = time.time_ns()
            _write(self._samples, ({**row, "at_ns": at_ns} for row in rows))

    def _read(self, connection: Connection) -> list[dict[str, Any]]:
        """Look at one connection; gives a row per subflow."""
        try:
            information = self._reader.read(connection.sock)
        except OSError:
            # It ended just now.
            return []
        policies = {one.ends: self._diagnosis.policy(one.ends) for one in information.subflows}
        return self._rows(self._open[connection], information, policies)

    def _foreign_rows(self, connection: ForeignConnection) -> list[dict[str, Any]]:
        """Take note of a connection of others; gives a row per subflow."""
        if connection.key not in self._known:
            self._known[connection.key] = Used()
            self._used.append(self._known[connection.key])
        return self._rows(self._known[connection.key], connection.information, connection.policies)

    def _rows(
        self, used: Used, information: Information, policies: dict[Tuple, Policy]
    ) -> list[dict[str, Any]]:
        used.add(information, policies)
        return [
            {
                "host": self._job.host,
                "token": used.token,
                "local": one.ends[0],
                "remote": one.ends[1],
                **row(information, one.tcp, policies[one.ends]),
            }
            for one in information.subflows
        ]

    def _heard(self, mask: int) -> None:
        del mask
        if self._events is not None and self._signals is not None:
            heard = self._events.heard()
            _write(self._signals, ({"host": self._job.host, **row} for row in heard))


COUNTED = (
    "bytes_acked",
    "bytes_received",
    "bytes_sent",
    "bytes_retrans",
    "total_retrans",
    "segs_out",
    "segs_in",
    "data_segs_in",
    "data_segs_out",
    "min_rtt",
)


class Used:
    """What a socket turned out to be."""

    def __init__(self) -> None:
        self.token: int | None = None
        self._mptcp = self._fallback = False
        self._subflows: dict[Tuple, str | None] = {}
        #: What TCP said last of each subflow, and when it was first seen.
        self._last: dict[Tuple, tuple[int, Fields, Policy]] = {}

    def add(self, information: Information, policies: dict[Tuple, Policy]) -> None:
        """Learn from a look at it."""
        self._fallback = information.fallback
        if information.mptcp is not None:
            self._mptcp = True
            self.token = information.mptcp["token"]
        at_ns = time.time_ns()
        for one in information.subflows:
            first_ns, _, _ = self._last.get(one.ends, (at_ns, one.tcp, policies[one.ends]))
            self._last[one.ends] = first_ns, one.tcp, policies[one.ends]
        for ends, policy in policies.items():
            self._subflows[ends] = policy.congestion_control or self._subflows.get(ends)

    @property
    def ends(self) -> Iterable[Tuple]:
        """Give the ends of its subflows."""
        return self._subflows

    def counted(self) -> list[dict[str, Any]]:
        """Give what TCP counted on each subflow, as it was last seen."""
        return [
            {
                "local": local,
                "remote": remote,
                "first_ns": first_ns,
                "backup": policy.backup,
                **{name: tcp[name] for name in COUNTED},
            }
            for (local, remote), (first_ns, tcp, policy) in self._last.items()
        ]

    def said(self) -> dict[str, Any]:
        """Give it as JSON has it."""
        subflows = [
            {"local": local, "remote": remote, "congestion_control": name}
            for (local, remote), name in self._subflows.items()
        ]
        about = {"mptcp": self._mptcp, "fallback": self._fallback, "token": self.token}
        return {**about, "subflows": subflows}


def _file(path: str | None) -> TextIO | None:
    return None if path is None else _opened(path)


def _opened(path: str) -> TextIO:
    return open(path, "w", encoding="utf-8")  # noqa: PTH123 - closed at the end


def _write(file: TextIO, rows: Iterable[dict[str, Any]]) -> None:
    with attempt(f"to write {file.name}"):
        for row in rows:
            file.write(json.dumps(row) + "\n")


def _close(file: TextIO) -> None:
    # What is left is written now.
    with attempt(f"to write {file.name}"):
        file.close()
