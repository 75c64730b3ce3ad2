"""What an agent is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mptcplab._core import Error
from mptcplab.engines.kernel.agent.sockets import SocketAddress

LINGER_NS = 10 * 10**9
DATAGRAMS = "datagrams"
WATCHING = "watching"


@dataclass(frozen=True, kw_only=True)
class Job:
    """The JSON of the first line; what may be left out has a default."""

    transfer: dict[str, Any]
    mptcp: bool = False
    listen: SocketAddress | None = None
    connect: dict[str, Any] | None = None
    connections: int = 1
    congestion_control: str | None = None
    keep_alive: bool = False
    start_ns: int = 0
    stop_ns: int | None = None
    linger_ns: int = LINGER_NS
    host: str = ""
    sample_ns: int = 0
    samples: str | None = None
    events: str | None = None
    counters: str | None = None
    handed: int | None = None
    shared: bool = False
    most_bytes: int | None = None
    most_bits_per_second: int | None = None
    #: Where the scenario wants one: ``program``, ``parameters``, ``decisions``.
    guard: dict[str, Any] | None = None
    #: What carries the connection over QUIC, where the scenario wants that: ``program``, ``job``.
    quic: dict[str, Any] | None = None

    @property
    def end(self) -> str:
        """The end that connects is the client."""
        return "server" if self.connect is None else "client"

    @property
    def application(self) -> str:
        """What it transfers."""
        return str(self.transfer["application"])


def read(fields: dict[str, Any]) -> Job:
    """Read it, strictly."""
    try:
        job = Job(**fields)
    except TypeError as error:
        raise Error(f"the agent's job: {error}") from error
    opened_by = sum(one is not None for one in (job.listen, job.connect, job.handed))
    if job.application != WATCHING and opened_by != 1:
        raise Error("the agent's job: it either listens, connects or is handed connections")
    return job
