"""Writes down what the kernel says meanwhile: samples, events, counters, and what was used."""

from __future__ import annotations

import json
import time

from mptcplab.engines.kernel.agent import counters, sample
from mptcplab.engines.kernel.agent.diagnosis import Diagnosis, Policy
from mptcplab.engines.kernel.agent.information import Reader
from mptcplab.engines.kernel.agent.job import WATCHING
from mptcplab.engines.kernel.agent.loop import IN, now
from mptcplab.engines.kernel.agent.path_manager import Events
from mptcplab.engines.kernel.agent.sockets import attempt
from mptcplab.engines.kernel.agent.strangers import Strangers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TextIO

    from mptcplab.engines.kernel.agent.connection import Connection
    from mptcplab.engines.kernel.agent.information import Information, Tuple
    from mptcplab.engines.kernel.agent.job import Job
    from mptcplab.engines.kernel.agent.loop import Loop
    from mptcplab.engines.kernel.agent.strangers import Stranger

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
        self._strangers = Strangers() if job.application == WATCHING else None
        self._open: dict[Connection, Used] = {}
        self._known: dict[int | Tuple, Used] = {}
        self._used: list[Used] = []
        self._samples = _file(job.samples)
        self._signals = _file(job.events)
        self._before = counters.read() if job.counters else {}
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
        self._read(connection)

    def closing(self, connection: Connection) -> None:
        """A socket is there for the last time."""
        if connection in self._open:
            self._read(connection)
            del self._open[connection]

    def alive(self) -> int:
        """Count the sockets of TCP that are open or closing."""
        return self._diagnosis.alive()

    def finish(self) -> list[dict[str, Any]]:
        """Complete the files; gives what sockets used."""
        if self._events is not None:
            self._heard(IN)
        if self._job.counters:
            after = counters.read()
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
        if self._strangers is not None:
            looks += [self._meet(stranger) for stranger in self._strangers.read()]
        for rows in looks:
            if self._samples is not None and self._job.sample_ns:
                _write(self._samples, ({**row, "at_ns": at_ns} for row in rows))
        # Those whose time is over are left out.
        after = at + period * max(1, -((at - now()) // period))
        self._loop.at(after, lambda: self._look(after, period))

    def _read(self, connection: Connection) -> list[dict[str, Any]]:
        """Look at one connection; gives a row per subflow."""
        try:
            information = self._reader.read(connection.sock)
        except OSError:
            # It ended just now.
            return []
        policies = {one.ends: self._diagnosis.policy(one.ends) for one in information.subflows}
        return self._rows(self._open[connection], information, policies)

    def _meet(self, stranger: Stranger) -> list[dict[str, Any]]:
        """Take note of a connection of others; gives a row per subflow."""
        if stranger.key not in self._known:
            self._known[stranger.key] = Used()
            self._used.append(self._known[stranger.key])
        return self._rows(self._known[stranger.key], stranger.information, stranger.policies)

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
                **sample.row(information, one.tcp, policies[one.ends]),
            }
            for one in information.subflows
        ]

    def _heard(self, mask: int) -> None:
        del mask
        if self._events is not None and self._signals is not None:
            heard = self._events.heard()
            _write(self._signals, ({"host": self._job.host, **row} for row in heard))


class Used:
    """What a socket turned out to be."""

    def __init__(self) -> None:
        self.token: int | None = None
        self._mptcp = self._fallback = False
        self._subflows: dict[Tuple, str | None] = {}

    def add(self, information: Information, policies: dict[Tuple, Policy]) -> None:
        """Learn from a look at it."""
        self._fallback = information.fallback
        if information.mptcp is not None:
            self._mptcp = True
            self.token = information.mptcp["token"]
        for ends, policy in policies.items():
            self._subflows[ends] = policy.congestion_control or self._subflows.get(ends)

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
