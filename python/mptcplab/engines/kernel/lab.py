"""The lab: the first process of the sandbox. It builds the network and runs the transfer.

``python -m mptcplab.engines.kernel.lab`` reads a `network.Job` as JSON from the first line of
standard input, and writes JSON lines: ``{"up": true}``, ``{"progress": {"ns": n, "bytes": n}}`` now
and then, and at the end ``{"ended": {...}}``, or ``{"failed": "one line"}``. When it ends, so does
all else in the sandbox.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from mptcplab._core import Emulator, Error, Namespace
from mptcplab.controllers.acks import Recorder
from mptcplab.controllers.repairs import Repairs
from mptcplab.engines.kernel import namespace
from mptcplab.engines.kernel.ends import (
    END,
    GO,
    INPUT,
    LOOK_NS,
    Agents,
    Converter,
    LocalHost,
    ProgramSession,
)
from mptcplab.engines.kernel.namespace import dropped, inside, ip, set_sysctls, sysctls
from mptcplab.engines.kernel.network import Job

# The settings whose values are stored in `run.json`.
RECORDED = ("net.ipv4.tcp_", "net.mptcp.")
SECRET = "net.ipv4.tcp_fastopen_key"  # noqa: S105 - the name of one
# How long the server may go on once the client has given up, and any agent after "stop".
GRACE_NS = 2 * 10**9
PATIENCE_NS = 10 * 10**9
# How long nothing new comes once the last path is gone, before a run ends: agents linger for less.
LOST_NS = 5 * 10**9
PROGRESS_NS = 250_000_000
ENDS = ("client", "server")


def main() -> None:
    """Serve one job."""
    line = sys.stdin.readline()
    if not line:
        # The job was cancelled.
        return
    _send({"up": True})
    try:
        lab = Lab(Job.of_json(json.loads(line)))
        _send({"ended": lab.run()})
    except (Error, OSError) as error:
        _send({"failed": str(error)})


def _send(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


class Lab:
    """Namespaces, devices and agents of one run."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._namespaces = {host.name: Namespace() for host in job.hosts}
        files = {name: one.fileno() for name, one in self._namespaces.items()}
        self._repairs = {name: Repairs(name, files) for name in job.controllers}
        self._timeline = list(job.timeline)
        self._cut: str | None = None
        #: Bytes received so far, and when the last came.
        self._received = 0
        self._news_ns = 0
        for host in job.hosts:
            with self._inside(host.name):
                set_sysctls(host.sysctls)
        self._devices = namespace.kind()
        self._emulator = Emulator(
            job.plan,
            self._ports(),
            devices=self._devices,
            client_capture=job.client_capture,
            server_capture=job.server_capture,
            full_payload=job.full_payload,
            link_log=job.link_log,
            ours=[] if job.ours is None else [job.ours],
        )
        self._local_host = None if job.ours is None else LocalHost(job.ours)
        for near, far in job.lans:
            with self._inside(near):
                namespace.lan(self._namespaces[far].fileno())
        for host in job.hosts:
            with self._inside(host.name):
                namespace.prepare(self._devices, host)
                ip(host.setup)
        # Paths that exist from the start.
        self._change(0)
        with self._inside(next(end for end in ENDS if end != job.ours)):
            self._sysctls = {
                name: value for name, value in sysctls(RECORDED).items() if name != SECRET
            }
        self._acks = None if job.acks is None or job.names else self._recorder(Path(job.acks))
        self._converters: dict[str, Converter] = {}
        for name, command in job.converters.items():
            with self._inside(name):
                self._converters[name] = Converter(command)
        self._agents = Agents()
        for name, agent in job.agents.items():
            with self._inside(agent.host):
                self._agents.start(name, agent)
        self._session = None if job.names is None else self._open_session(job.names)

    def run(self) -> dict[str, Any]:
        """Run the transfer to its end, or to where it is to stop."""
        self._agents.wait_until_ready()
        if self._session is not None:
            _send({"hosts": {name: network.fileno() for name, network in self._namespaces.items()}})
            self._session.wait_for(GO)
        started_ns = self._emulator.start()
        self._start_ns = time.monotonic_ns() - (time.time_ns() - started_ns)
        self._agents.go()
        if self._session is None:
            self._transfer()
        else:
            self._serve(self._session)
        elapsed_ns = time.monotonic_ns() - self._start_ns
        converted = {name: one.end() for name, one in self._converters.items()}
        # Cross traffic ends last: packets on the links meet it until then.
        self._stop([name for name in self._job.agents if name not in ("client", "server")])
        return {
            "devices": self._devices,
            "started_ns": started_ns,
            "elapsed_ns": elapsed_ns,
            "cut": self._cut,
            "agents": self._agents.done,
            "dropped": self._dropped(),
            "emulator": self._emulator.stop(),
            "sysctls": self._sysctls,
            "controllers": {name: one.described() for name, one in self._repairs.items()},
            "acks": None if self._acks is None else self._acks.close(),
            "converters": converted,
        }

    def _recorder(self, file: Path) -> Recorder:
        hosts = {end: self._namespaces[end].fileno() for end in ENDS if end in self._namespaces}
        return Recorder(hosts, file)

    def _transfer(self) -> None:
        done = self._agents.done
        reported_ns = 0
        gave_up_ns: int | None = None
        while not {"client", "server"} <= done.keys():
            now_ns = time.monotonic_ns() - self._start_ns
            self._change(now_ns)
            self._cut = self._over(now_ns)
            if self._cut is not None:
                self._stop(["server", "client"])
                return
            if gave_up_ns is None and "client" in done and not done["client"]["finished"]:
                gave_up_ns = now_ns + GRACE_NS
            if gave_up_ns is not None and now_ns >= gave_up_ns:
                self._stop(["server"])
                return
            nexts = [at_ns for at_ns, _, _ in self._timeline[:1]] + [self._job.stop_ns]
            until_ns = min(nexts if gave_up_ns is None else [*nexts, gave_up_ns])
            self._agents.listen(min(until_ns - now_ns, self._step_ns))
            self._check_emulator()
            self._look()
            if now_ns - reported_ns >= PROGRESS_NS:
                reported_ns = now_ns
                _send({"progress": {"ns": now_ns, "bytes": self._agents.received}})

    def _over(self, now_ns: int) -> str | None:
        """Say why it is to end, if it is."""
        if now_ns >= self._job.stop_ns:
            return f"stopped after {self._job.stop_ns / 1e9:g} s"
        if self._agents.received != self._received:
            self._received, self._news_ns = self._agents.received, now_ns
        lost_ns = self._job.lost_ns
        if lost_ns is not None and now_ns >= max(lost_ns, self._news_ns) + LOST_NS:
            return f"nothing more can happen: no path from {lost_ns / 1e9:g} s on"
        return None

    @property
    def _step_ns(self) -> int:
        """How long to wait for agents: an endpoint of ours does not wake anybody."""
        return PROGRESS_NS if self._local_host is None else LOOK_NS

    def _look(self, *, stop: bool = False) -> None:
        if self._local_host is not None:
            self._local_host.look(self._emulator, stop=stop)
            self._agents.note(self._local_host)

    def _open_session(self, names: str) -> ProgramSession:
        session = ProgramSession(names)
        for host in ENDS:
            with self._inside(host):
                session.watch_here()
        self._agents.wake_on(INPUT)
        return session

    def _serve(self, session: ProgramSession) -> None:
        """Keep the paths going until the programs have ended."""
        while not session.has_received(END):
            now_ns = time.monotonic_ns() - self._start_ns
            self._change(now_ns)
            next_ns = self._timeline[0][0] if self._timeline else now_ns + PROGRESS_NS
            self._agents.listen(min(next_ns - now_ns, PROGRESS_NS))
            self._check_emulator()
        session.settle()
        self._stop(list(ENDS))

    def _check_emulator(self) -> None:
        """End the run if the emulator has ended."""
        if not self._emulator.is_running():
            # Says why.
            self._emulator.stop()
            raise Error("the emulator ended in the middle")

    def _stop(self, names: list[str]) -> None:
        """Stop agents, and wait for their reports."""
        self._agents.stop(names)
        if self._local_host is not None and self._local_host.end in names:
            self._look(stop=True)
        patience_ns = time.monotonic_ns() + PATIENCE_NS
        while not self._agents.done.keys() >= set(names):
            left_ns = patience_ns - time.monotonic_ns()
            if left_ns <= 0:
                raise Error(f"the agents {', '.join(names)} do not end")
            self._agents.listen(left_ns)

    def _change(self, now_ns: int) -> None:
        """Apply the events of the timeline that are due."""
        while self._timeline and self._timeline[0][0] <= now_ns:
            _, path, attaches = self._timeline.pop(0)
            with self._inside("client"):
                ip((self._job.attach if attaches else self._job.detach)[path])

    def _dropped(self) -> dict[str, int]:
        """Count what each device lost between host and link."""
        found: dict[str, int] = {}
        for host in self._job.hosts:
            with self._inside(host.name):
                counts = dropped(one.name for one in host.interfaces)
            found |= {f"{host.kind}:{one.port}": counts[one.name] for one in host.interfaces}
        return found

    def _ports(self) -> list[tuple[str, str, int, str, str]]:
        return [
            port
            for host in self._job.hosts
            for port in namespace.ports(self._devices, host, self._namespaces[host.name].fileno())
        ]

    def _inside(self, host: str) -> Any:
        return inside(self._namespaces[host].fileno())


if __name__ == "__main__":
    main()
