"""The hosts and agents in the sandbox, as the lab is given them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from mptcplab._core import Plan

# What waits between a host and a device of it at most: all that may come before it is read.
QUEUE_PACKETS = 10_000


@dataclass
class Interface:
    """A device of a host; ``port`` is the path or the cross traffic whose packets pass it."""

    name: str
    port: str
    mtu_bytes: int


@dataclass
class Host:
    """A network namespace: its interfaces, and the settings of Linux there."""

    name: str
    #: client, server, neighbour or peer.
    kind: str
    interfaces: list[Interface]
    sysctls: dict[str, int | str]
    #: For `ip -batch`, once the devices are there.
    setup: list[str]


@dataclass
class Agent:
    """An agent in a host, and its job."""

    host: str
    job: dict[str, Any]

    @property
    def listens(self) -> bool:
        """Whether others connect to it."""
        return "listen" in self.job


@dataclass
class Job:
    """All that the lab needs."""

    plan: Plan
    client_capture: str
    server_capture: str
    full_payload: bool
    link_log: str | None
    #: Where the ACKs that come to client and server are recorded, if they are.
    acks: str | None
    stop_ns: int
    #: When the last path goes for good, if none comes back.
    lost_ns: int | None
    hosts: list[Host]
    #: Those of the transfer and of cross traffic, by name.
    agents: dict[str, Agent]
    #: For `ip -batch` at the client, by path: what brings it and what takes it away.
    attach: dict[str, list[str]]
    detach: dict[str, list[str]]
    #: When which path comes (or goes), from the start.
    timeline: list[tuple[int, str, bool]] = field(default_factory=list)
    #: Where programs transfer: the file that is to be their `/etc/hosts`.
    names: str | None = None
    #: The end that is an endpoint of mptcplab: it has neither host nor agent.
    ours: str | None = None
    #: The controllers of ours that sockets use, whose repairs are counted.
    controllers: list[str] = field(default_factory=list)

    #: Hosts that have a link of their own between them.
    lans: list[tuple[str, str]] = field(default_factory=list)
    #: The converter's command, by host.
    converters: dict[str, list[str]] = field(default_factory=dict)

    @property
    def is_quic(self) -> bool:
        """Whether the transfer goes over QUIC."""
        return any("quic" in agent.job for agent in self.agents.values())

    def as_json(self) -> dict[str, Any]:
        """Give it for the lab."""
        return vars(self) | {
            "plan": self.plan.table(),
            "hosts": [asdict(host) for host in self.hosts],
            "agents": {name: asdict(agent) for name, agent in self.agents.items()},
        }

    @classmethod
    def of_json(cls, job: dict[str, Any]) -> Job:
        """Read it in the lab."""
        hosts = [
            Host(**host | {"interfaces": [Interface(**one) for one in host["interfaces"]]})
            for host in job["hosts"]
        ]
        agents = {name: Agent(**agent) for name, agent in job["agents"].items()}
        parts = {"plan": Plan(job["plan"]), "hosts": hosts, "agents": agents}
        return cls(**job | parts)
