"""A scenario, or plain TCP over one of its paths, as the lab takes it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mptcplab.controllers import catalogue
from mptcplab.engines.kernel import converters, hosts, quic, settings
from mptcplab.engines.kernel.features import BY_PROGRAM, Features
from mptcplab.engines.kernel.network import Agent, Host, Job
from mptcplab.engines.kernel.settings import Refusals, Settings
from mptcplab.machine import programs
from mptcplab.scenario.fault import ScenarioError
from mptcplab.scenario.kernel import CONGESTION_CONTROL, over_one_path
from mptcplab.scenario.plan import (
    addresses as own_addresses,
)
from mptcplab.scenario.plan import (
    plan,
    planned_transfer,
    reached_addresses,
    server_addresses,
)
from mptcplab.scenario.scenario import Scenario
from mptcplab.scenario.section import in_base_units
from mptcplab.scenario.timeline import lost_ns
from mptcplab.scenario.traffic import Traffic

# When a path is there, or is not from then on.
Presence = tuple[int, str, bool]

# How long sockets may take to go when all is transferred and a path is dead.
LINGER_NS = 3 * 10**9
# What Linux needs to bring a path, before somebody connects from it.
SETTLE_NS = 20 * 10**6
LINK_LOG = "links.csv"
# What an agent writes, by its job's key.
LISTS = {"samples": "samples", "events": "events", "counters": "counters"}
# What the guard writes, where there is one.
DECISIONS = "client.decisions"


@dataclass
class Wanted:
    """A run, and what this machine's kernel has for it; refuses what it has not."""

    scenario: Scenario
    seed: int
    baseline: str | None
    machine: Features

    def __post_init__(self) -> None:
        scenario = self.scenario
        several = self.baseline is None and scenario.mptcp.enabled
        self.quic = scenario.transfer.protocol == "quic"
        self.mptcp = several and not self.quic
        self.ours = _ours(scenario)
        _refuse_proxies(scenario)
        refusals = Refusals(scenario)
        self._base = settings.of(
            scenario, self.machine, refusals, mptcp=self.mptcp, shared=self.ours is not None
        )
        key = "congestion_control" if several else "tcp_congestion_control"
        name = getattr(scenario.kernel, key)
        if self.quic:
            quic.check(scenario, name, key, refusals)
            # The kernel has no part in it.
            self._of_quic, name = name, CONGESTION_CONTROL
        if reason := settings.lacking(name, self.machine):
            refusals.policy(key, f"[kernel] {key}: {reason}", CONGESTION_CONTROL)
        elif name in catalogue.NAMES and self.mptcp:
            settings.check_parameters(name, scenario.mptcp, refusals)
        self._settings = settings.with_congestion_control(self._base, name, self.machine)
        if self.quic:
            self._settings.sysctls |= quic.SYSCTLS | scenario.kernel.sysctl
        self._paths = list(scenario.paths) if self.baseline is None else [self.baseline]
        #: Those that the program of QUIC is to use: without several, the first.
        is_single = not several or scenario.mptcp.path_manager == "single"
        self._used = self._paths[:1] if is_single else self._paths
        links = {scenario.paths[name].link for name in self._paths}
        # By its number in the emulator's plan, which leaves out what the path does not meet.
        self.traffic = [
            (traffic, self._of_traffic(number, traffic, refusals))
            for number, traffic in enumerate(scenario.cross_traffic)
            if self.baseline is None or traffic.link in links
        ]
        if scenario.kernel.state_per_ack and os.geteuid():
            message = "[kernel] state_per_ack: only root may record ACKs"
            refusals.add(message, "kernel.state_per_ack=false")
        refusals.check()
        converted = self.mptcp and scenario.converter is not None
        self.converters = converters.Deployment(scenario, self._settings) if converted else None

    @property
    def congestion_control(self) -> str | None:
        """What sockets set, where the sysctl may not name it."""
        return self._settings.congestion_control

    @property
    def controllers(self) -> list[str]:
        """The controllers of ours that its sockets use."""
        every = (self._settings, *(own for _, own in self.traffic))
        own = [one.sysctls[settings.CONGESTION_CONTROL] for one in every]
        return [name for name, linux in catalogue.NAMES.items() if linux in own]

    def job(self, directory: Path, raw: Path, *, captures: str) -> Job:
        """Give the job; captures go to ``directory``, or to ``raw`` where none are kept."""
        client = hosts.Client(self.scenario, self._settings, mptcp=self.mptcp)
        planned = plan(self.scenario, self.seed, self.baseline)
        paths = self.scenario.paths
        presence = planned.presence()
        # Those of an endpoint of ours are the emulator's to tell.
        changed = self._paths if self.ours != "client" else []
        captured = raw if captures == "none" else directory
        return Job(
            plan=planned,
            client_capture=str(captured / "client.pcapng"),
            server_capture=str(captured / "server.pcapng"),
            full_payload=captures == "full",
            link_log=str(directory / LINK_LOG) if self.scenario.kernel.link_log else None,
            acks=str(raw / "acks") if self.scenario.kernel.state_per_ack else None,
            stop_ns=self.scenario.stop_ns,
            lost_ns=lost_ns(self.scenario.timeline, {name: paths[name] for name in self._paths}),
            hosts=self._hosts(client),
            agents=self._agents(raw, presence),
            attach={name: client.attach(name) for name in changed},
            detach={name: client.detach(name) for name in changed},
            timeline=presence if changed else [],
            ours=self.ours,
            controllers=self.controllers,
            lans=self.converters.lans if self.converters else [],
            converters=self.converters.commands() if self.converters else {},
        )

    def _of_traffic(self, number: int, traffic: Traffic, refusals: Refusals) -> Settings:
        if traffic.kind != "tcp":
            return self._settings
        name = over_one_path(traffic.congestion_control)
        if reason := settings.lacking(name, self.machine):
            where = f"[[cross_traffic]] {traffic.name}: congestion_control"
            linux = f"cross_traffic.{number}.congestion_control={CONGESTION_CONTROL}"
            refusals.add(f"{where}: {reason}", linux)
        return settings.with_congestion_control(self._base, name, self.machine)

    def _hosts(self, client: hosts.Client) -> list[Host]:
        server = hosts.server(self.scenario, self._settings, self._paths, mptcp=self.mptcp)
        found = [host for host in (client.host(self._paths), server) if host.name != self.ours]
        for number, (traffic, own) in enumerate(self.traffic):
            found += hosts.of_traffic(number, traffic, own)
        return found if self.converters is None else self.converters.with_converters(found)

    def _agents(self, raw: Path, presence: list[Presence]) -> dict[str, Agent]:
        port = self.scenario.server.port
        addresses = server_addresses(self.scenario)
        family = "0.0.0.0" if all(hosts.version(one) == 4 for one in addresses) else "::"  # noqa: S104
        ends = {"server": {"listen": [family, port]}, "client": self._connect(presence)}
        agents = {end: self._agent(end, raw, ends[end]) for end in ends if end != self.ours}
        if self.converters is not None:
            agents |= self._behind_converters(agents, self.converters)
        if self.quic:
            self._add_quic(agents)
        for number, (traffic, own) in enumerate(self.traffic):
            agents |= hosts.agents_of_traffic(number, traffic, own)
        return agents

    def _agent(self, host: str, raw: Path, ends: dict[str, Any]) -> Agent:
        job = {
            "transfer": planned_transfer(self.scenario.transfer),
            "mptcp": self.mptcp,
            "congestion_control": self._settings.congestion_control,
            "keep_alive": self._settings.keep_alive,
            "linger_ns": LINGER_NS,
            "host": host,
            "sample_ns": self.scenario.run.sample,
            **{key: str(raw / f"{host}.{name}") for key, name in LISTS.items()},
        }
        manager = self.scenario.mptcp.path_manager
        if host == "client" and self.mptcp and manager in BY_PROGRAM:
            job["guard"] = {
                "program": programs.guard(),
                "policy": None if manager == "guard" else manager,
                "plans": self._plans(),
                "parameters": self._parameters(),
                "decisions": str(raw / DECISIONS),
                "signals": self._signals(),
            }
        return Agent(host, job | ends)

    def _behind_converters(
        self, agents: dict[str, Agent], deployment: converters.Deployment
    ) -> dict[str, Agent]:
        """Give the ends that speak TCP to a converter, and who watches that one's connections."""
        found = {}
        for end in deployment.ends:
            job = agents[end].job
            watching = converters.watching(job, ("sample_ns", "guard", *LISTS))
            found[f"{end} converter"] = Agent(end, watching | {"host": end})
            found[end] = Agent(converters.BEHIND[end], job | {"mptcp": False})
        connect = found.get("client", agents["client"]).job["connect"]
        version = hosts.version(connect["remote"][0])
        connect["remote"] = [deployment.server(version), connect["remote"][1]]
        if "client" in deployment.ends:
            connect["local"] = None
        return found

    def _add_quic(self, agents: dict[str, Agent]) -> None:
        """Have the program carry the agents' connection; it takes the samples, too."""
        samples = {end: agent.job["samples"] for end, agent in agents.items()}
        jobs = quic.jobs(self.scenario, self._used, self._of_quic, samples)
        for end, own in quic.ends(self.scenario).items():
            agents[end].job |= own | {"sample_ns": 0, "samples": None, "quic": jobs[end]}

    def _parameters(self) -> dict[str, Any]:
        """Give what is set of the path manager, in base units."""
        transport = plan(self.scenario, self.seed, self.baseline).table()["transport"]
        parameters: dict[str, Any] = transport["client"]["mptcp"]["path_manager"]["parameters"]
        return parameters

    def _plans(self) -> dict[str, dict[str, Any]]:
        """Give what each interface may carry and costs."""
        return {
            name: {"budget_bytes": path.budget, "cost_per_mb": path.cost_per_mb or 0}
            for name, path in self.scenario.paths.items()
        }

    def _signals(self) -> list[tuple[int, str, float]]:
        """Give what radios hear: from when, on which interface, in dBm."""
        of_radios = [event for event in self.scenario.timeline if event.verb == "signal"]
        return sorted((one.at, one.path, in_base_units(one)["dbm"]) for one in of_radios)

    def _connect(self, presence: list[Presence]) -> dict[str, Any]:
        """Connect from the first path that there is, once it is there."""
        at, name, _ = next(
            (change for change in presence if change[2]),
            (self.scenario.stop_ns, self._paths[0], True),
        )
        number = list(self.scenario.paths).index(name) + 1
        local = own_addresses(number, self.scenario.paths[name])[0]
        remote = next(
            address
            for address in reached_addresses(self.scenario)
            if hosts.version(address) == hosts.version(local)
        )
        ends = {"local": [local, 0], "remote": [remote, self.scenario.server.port]}
        return {"connect": ends, "start_ns": at + (SETTLE_NS if at else 0)}


def _refuse_proxies(scenario: Scenario) -> None:
    """Refuse what passes on lengths alone, where bytes are the kernel's."""
    uplinks = [(name, link.uplink) for name, link in scenario.links.items()]
    uplinks += [
        (event.path, event.uplink) for event in scenario.timeline if event.verb == "profile"
    ]
    for where, uplink in uplinks:
        if any(element.get("element") == "proxy" for element in uplink or ()):
            raise ScenarioError(
                f"link {where}: the kernel engine has no proxy, which needs the payload of the "
                "simulator: run it with --engine simulation"
            )


def _ours(scenario: Scenario) -> str | None:
    """Name the end that is not Linux's, if there is one."""
    stacks = {"client": scenario.client.stack, "server": scenario.server.stack}
    ours = [end for end, stack in stacks.items() if stack == "mptcplab"]
    if scenario.server.version == 0 and "server" not in ours:
        raise ScenarioError(
            "[server] version: Linux cannot have 0; to run it: --set server.version=1, or --set "
            "server.stack=mptcplab"
        )
    if len(ours) == len(stacks):
        raise ScenarioError(
            "[client] and [server] stack: two endpoints of mptcplab are a simulation: run it with "
            "--engine simulation"
        )
    return ours[0] if ours else None
