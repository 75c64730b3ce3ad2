"""The hosts of converters: TCP client - converter - paths - converter - TCP server.

The hosts ``client`` and ``server`` keep the paths and have the converters. The client and the
server of the transfer are hosts behind them, ``home`` and ``origin``, each on a link of its own
that costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mptcplab.engines.kernel import hosts
from mptcplab.engines.kernel.namespace import SIX
from mptcplab.engines.kernel.network import Host
from mptcplab.engines.kernel.settings import Settings
from mptcplab.machine import programs
from mptcplab.scenario.converter import LANS, PORT
from mptcplab.scenario.fault import ScenarioError
from mptcplab.scenario.plan import server_addresses
from mptcplab.scenario.scenario import Scenario

# Who is behind which end.
BEHIND = {"client": "home", "server": "origin"}
# Their interface, and that to them: no path may have this name.
INTERFACE = "LAN"
# Where packets that pass a transparent converter are its own.
TABLE = 90
# Fast Open without cookies: at whom connects (1, 4), and at whom listens (2, 0x200, 0x400).
FAST_OPEN: dict[str, int | str] = {"net.ipv4.tcp_fastopen": 0x607}


@dataclass
class Deployment:
    """The converters of a run."""

    scenario: Scenario
    settings: Settings

    def __post_init__(self) -> None:
        section = self.scenario.converter
        assert section is not None  # noqa: S101 - there is none without
        self._section = section
        self.ends = list(BEHIND) if section.at == "both" else [section.at]
        self._versions = [hosts.version(one) for one in server_addresses(self.scenario)]
        self._check()

    def _check(self) -> None:
        for end in BEHIND:
            if getattr(self.scenario, end).stack == "mptcplab":
                raise ScenarioError(f"[converter]: converters need Linux, and [{end}] has no Linux")
        if self._is_behind_address and self.scenario.server.addresses > 1:
            raise ScenarioError(
                "[server] addresses: behind a transparent converter the server has one"
            )

    @property
    def _is_behind_address(self) -> bool:
        """Whether the server, behind a converter, has the address that is connected to."""
        return "server" in self.ends and self._section.protocol == "transparent"

    @property
    def lans(self) -> list[tuple[str, str]]:
        """Give the hosts that have a link of their own."""
        return [(end, BEHIND[end]) for end in self.ends]

    def server(self, version: int) -> str:
        """Give the address of the server that the client connects to."""
        if self._section.protocol == "convert":
            return LANS["server"][version][1]
        return next(one for one in server_addresses(self.scenario) if hosts.version(one) == version)

    def with_converters(self, found: list[Host]) -> list[Host]:
        """Give the hosts with the converters' settings, and those behind them."""
        return [self._with_converter(host) for host in found] + [
            self._behind(end) for end in self.ends
        ]

    def _with_converter(self, host: Host) -> Host:
        if host.name not in self.ends:
            return host
        own = server_addresses(self.scenario)
        setup, sysctls = list(host.setup), dict(host.sysctls)
        if host.name == "server" and self._is_behind_address:
            theirs = [f"address add {one}/{hosts.BITS[hosts.version(one)]} dev lo" for one in own]
            setup = [line for line in setup if line not in theirs]
        setup.append(f"link set {INTERFACE} up")
        for version, (gateway, behind, length) in self._networks(host.name):
            setup.append(_address(gateway, length))
            if host.name == "server" and self._is_behind_address:
                setup += [
                    f"route add {one}/{hosts.BITS[version]} via {behind} dev {INTERFACE}"
                    for one in own
                    if hosts.version(one) == version
                ]
            from_ = INTERFACE if host.name == "client" else None
            six = SIX if version == 6 else ""
            inward = [from_] if from_ else [one.name for one in host.interfaces]
            if host.name == "client" or self._is_behind_address:
                setup += [
                    f"{six}rule add iif {one} lookup {TABLE} priority {TABLE}" for one in inward
                ]
                setup.append(f"route add local {hosts.EVERYWHERE[version]} dev lo table {TABLE}")
        if self._section.protocol == "convert" and self._section.fast_open:
            sysctls = FAST_OPEN | sysctls
        return Host(host.name, host.kind, host.interfaces, sysctls, setup)

    def _behind(self, end: str) -> Host:
        setup = ["link set lo up", f"link set {INTERFACE} up"]
        for version, (gateway, behind, length) in self._networks(end):
            setup.append(_address(behind, length))
            setup.append(f"route add {hosts.EVERYWHERE[version]} via {gateway} dev {INTERFACE}")
        if end == "server" and self._is_behind_address:
            setup += [
                f"address add {one}/{hosts.BITS[hosts.version(one)]} dev lo"
                for one in server_addresses(self.scenario)
            ]
        return Host(BEHIND[end], BEHIND[end], [], dict(self.settings.sysctls), setup)

    def _networks(self, end: str) -> list[tuple[int, tuple[str, str, int]]]:
        return [(version, LANS[end][version]) for version in dict.fromkeys(self._versions)]

    def commands(self) -> dict[str, list[str]]:
        """Give what runs in each end's host."""
        everywhere = "0.0.0.0" if set(self._versions) == {4} else "[::]"  # noqa: S104
        service = f"{everywhere}:{self.scenario.server.port}"
        found: dict[str, list[str]] = {}
        for end in self.ends:
            asks = self._section.protocol == "convert"
            if end == "server" and asks:
                arguments = ["--listen", f"{everywhere}:{PORT}"]
                for version in dict.fromkeys(self._versions):
                    arguments += ["--allow", hosts.EVERYWHERE[version]]
            else:
                arguments = ["--listen", service, "--transparent"]
                arguments += ["--converter", self._other] if asks else []
            if (name := self.settings.congestion_control) is not None:
                arguments += ["--congestion-control", name]
            found[end] = [programs.converter(), end, *arguments, "--json"]
        return found

    @property
    def _other(self) -> str:
        address = server_addresses(self.scenario)[0]
        return f"[{address}]:{PORT}" if ":" in address else f"{address}:{PORT}"


def _address(address: str, length: int) -> str:
    nodad = " nodad" if hosts.version(address) == 6 else ""
    return f"address add {address}/{length} dev {INTERFACE}{nodad}"


def watching(job: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """Give the job of an agent that watches a converter's connections instead of its own."""
    return {"transfer": {"application": "watching"}} | {
        key: job.pop(key) for key in keys if key in job
    }
