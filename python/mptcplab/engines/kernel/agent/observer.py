"""Watches connections: samples, signals of path management, counters."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

from mptcplab.engines.kernel.agent.connection import Connection
from mptcplab.engines.kernel.agent.diagnosis import (
    Diagnosis,
    Fields,
    ForeignSockets,
    Policy,
    Reader,
    Tuple,
)
from mptcplab.engines.kernel.agent.job import WATCHING, Job
from mptcplab.engines.kernel.agent.loop import IN, Loop, now, unix_ns
from mptcplab.engines.kernel.agent.path_manager import Events
from mptcplab.engines.kernel.agent.samples import Look, Series, write
from mptcplab.engines.kernel.agent.sockets import attempt

# Groups of counters by file.
FILES = {"netstat": ("TcpExt", "MPTcpExt"), "snmp": ("Tcp",)}
# Entries among them that are settings.
SETTINGS = {"TcpRtoAlgorithm", "TcpRtoMin", "TcpRtoMax", "TcpMaxConn"}


def read() -> dict[str, int]:
    """Read them; a kernel without MPTCP has none of its."""
    counters = {}
    for file, groups in FILES.items():
        lines = Path("/proc/net", file).read_text("ascii").splitlines()
        # Two lines each: names, values.
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            group, *columns = names.split()
            if group.rstrip(":") in groups:
                pairs = zip(columns, values.split()[1:], strict=True)
                counters.update({group.rstrip(":") + name: int(value) for name, value in pairs})
    return {name: value for name, value in counters.items() if name not in SETTINGS}


# How often sockets are examined where no samples were asked for.
LOOK_NS = 10**9


class Observer:
    """Receives events from when it is made."""

    def __init__(self, loop: Loop, job: Job) -> None:
        self._loop = loop
        self._job = job
        self._reader = Reader()
        self._diagnosis = Diagnosis()
        # Connections of others are observed where we have none.
        self._foreign = ForeignSockets() if job.application == WATCHING else None
        self._open: dict[Connection, Used] = {}
        self._known: dict[int | Tuple, Used] = {}
        self._used: list[Used] = []
        self._series: dict[Used, Series] = {}
        self._samples = _file(job.samples)
        self._signals = _file(job.events)
        self._before = read() if job.counters else {}
        self._events = Events() if job.events else None
        if self._events is not None:
            loop.watch(self._events.fileno(), IN, self._write_signals)

    def start(self, at: int) -> None:
        """Sample open connections, from a time on."""
        period = self._job.sample_ns or LOOK_NS
        self._loop.at(at + period, lambda: self._look(at + period, period))

    def opened(self, connection: Connection) -> None:
        """A connection is established."""
        self._open[connection] = Used()
        self._used.append(self._open[connection])
        self._note(connection)

    def closing(self, connection: Connection) -> None:
        """A socket is about to be closed."""
        if connection in self._open:
            self._note(connection)
            self._end(self._open.pop(connection))

    def alive(self) -> int:
        """Count the sockets of TCP that are open or closing: ours, where there are others'."""
        if not self._job.shared:
            return self._diagnosis.alive()
        return self._diagnosis.alive({ends for used in self._used for ends in used.ends})

    def counted(self) -> list[list[dict[str, Any]]]:
        """Give what TCP counted on the subflows of each connection."""
        return [used.counted() for used in self._used]

    def finish(self) -> list[dict[str, Any]]:
        """Complete the files; returns a summary of each socket."""
        if self._events is not None:
            self._write_signals(IN)
        if self._job.counters:
            after = read()
            rows = [
                {"host": self._job.host, "counter": name, "before": before, "after": after[name]}
                for name, before in self._before.items()
            ]
            counted = _opened(self._job.counters)
            write(counted, rows)
            _close(counted)
        for used in list(self._series):
            self._end(used)
        for written in (self._samples, self._signals):
            if written is not None:
                _close(written)
        # A sample may still be due.
        self._samples = self._signals = None
        return [used.summary() for used in self._used]

    def _look(self, at: int, period: int) -> None:
        at_ns = unix_ns()
        sampled = bool(self._job.sample_ns)
        for connection, used in list(self._open.items()):
            self._see(used, self._read(connection), at_ns, sampled=sampled)
        if self._foreign is not None:
            self._look_at_others(self._foreign, at_ns, sampled=sampled)
        if self._samples is not None:
            # Readers of the file see all samples, also where none follow for long.
            with attempt(f"to write {self._samples.name}"):
                self._samples.flush()
        # Samples that are overdue are skipped.
        after = at + period * max(1, -((at - now()) // period))
        self._loop.at(after, lambda: self._look(after, period))

    def _look_at_others(self, foreign: ForeignSockets, at_ns: int, *, sampled: bool) -> None:
        looks = {one.key: Look(one.information, one.policies) for one in foreign.read()}
        for key, look in looks.items():
            if key not in self._known:
                self._known[key] = Used()
                self._used.append(self._known[key])
            self._see(self._known[key], look, at_ns, sampled=sampled)
        for key in self._known.keys() - looks.keys():
            self._end(self._known[key])

    def _note(self, connection: Connection) -> None:
        """Examine a connection at its beginning or end, and sample it where it is shared."""
        used, look = self._open[connection], self._read(connection)
        self._see(used, look, unix_ns(), sampled=self._job.shared)

    def _read(self, connection: Connection) -> Look | None:
        """Examine one connection."""
        try:
            information = self._reader.read(connection.sock)
        except OSError:
            # It has just ended.
            return None
        policies = {one.ends: self._diagnosis.policy(one.ends) for one in information.subflows}
        return Look(information, policies)

    def _see(self, used: Used, look: Look | None, at_ns: int, *, sampled: bool) -> None:
        """Record what was seen of a connection."""
        if look is None:
            return
        used.add(look, at_ns)
        if sampled and self._samples is not None:
            if used not in self._series:
                self._series[used] = Series(self._job.host, self._samples)
            self._series[used].add(at_ns, used.token, look)

    def _end(self, used: Used) -> None:
        """End its samples."""
        if series := self._series.pop(used, None):
            series.end()

    def _write_signals(self, mask: int) -> None:
        del mask
        if self._events is not None and self._signals is not None:
            signals = self._events.read()
            write(self._signals, ({"host": self._job.host, **row} for row in signals))


COUNTED = (
    "state",
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
    """What a socket turned out to use."""

    def __init__(self) -> None:
        self.token: int | None = None
        self._mptcp = self._fallback = False
        self._subflows: dict[Tuple, str | None] = {}
        #: The last information of each subflow, and when it was first seen.
        self._last: dict[Tuple, tuple[int, Fields, Policy]] = {}

    def add(self, look: Look, at_ns: int) -> None:
        """Record a sample that was taken then."""
        information, policies = look
        self._fallback = information.fallback
        if information.mptcp is not None:
            self._mptcp = True
            self.token = information.mptcp["token"]
        for one in information.subflows:
            policy = policies[one.ends]
            first_ns, _, before = self._last.get(one.ends, (at_ns, one.tcp, policy))
            # One that has closed has none any more.
            self._last[one.ends] = first_ns, one.tcp, before if policy == Policy() else policy
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
                "ids": policy.ids,
                **{name: tcp[name] for name in COUNTED},
            }
            for (local, remote), (first_ns, tcp, policy) in self._last.items()
        ]

    def summary(self) -> dict[str, Any]:
        """Give it as JSON."""
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


def _close(file: TextIO) -> None:
    # Closing writes what is buffered.
    with attempt(f"to write {file.name}"):
        file.close()
