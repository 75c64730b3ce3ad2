"""What the program that carries data over QUIC is asked to do at both ends."""

from __future__ import annotations

from typing import Any

from mptcplab.engines.kernel import hosts
from mptcplab.engines.kernel.features import BY_PROGRAM
from mptcplab.engines.kernel.settings import Refusals
from mptcplab.machine import programs
from mptcplab.scenario.element import NAT64
from mptcplab.scenario.fault import ScenarioError
from mptcplab.scenario.plan import addresses, reached_addresses, server_addresses
from mptcplab.scenario.scenario import Scenario

CONGESTION_CONTROLS = ("cubic", "reno", "bbr")
# TCP between an application and the program beside it.
LOOPBACK = "127.0.0.1"
# Little is to wait there: it still has to arrive when the duration of a transfer is over.
SYSCTLS: dict[str, int | str] = {
    "net.ipv4.tcp_rmem": "4096 131072 262144",
    "net.ipv4.tcp_wmem": "4096 16384 262144",
}


def check(scenario: Scenario, congestion_control: str, key: str, refusals: Refusals) -> None:
    """Refuse what it cannot do."""
    for end in ("client", "server"):
        if getattr(scenario, end).stack != "kernel":
            raise ScenarioError(
                f'[{end}] stack: an endpoint of mptcplab has no "quic": run it with '
                f"--set {end}.stack=kernel, or with --set transfer.protocol=tcp"
            )
    if scenario.converter is not None:
        raise ScenarioError(
            "[converter]: converters take TCP, not QUIC: leave the section out, or run it with "
            "--set transfer.protocol=tcp"
        )
    if (manager := scenario.mptcp.path_manager) in BY_PROGRAM:
        refusals.add(f'[mptcp] path_manager: "{manager}" is for MPTCP', "mptcp.path_manager=linux")
    if congestion_control not in CONGESTION_CONTROLS:
        known = ", ".join(CONGESTION_CONTROLS)
        message = f"[kernel] {key}: QUIC has no {congestion_control} (it has {known})"
        refusals.add(message, f"kernel.{key}=cubic")
    if _version(scenario) is None:
        # Behind a NAT64 there is no IPv4.
        wanted, others = (
            (6, 4) if any(one.ip == NAT64 for one in scenario.paths.values()) else (4, 6)
        )
        remedy = (
            f"--set path.{name}.ip={wanted}"
            for name, one in scenario.paths.items()
            if one.ip == others
        )
        raise ScenarioError(
            f"[path] ip: QUIC needs all paths of one version: run it with {' '.join(remedy)}"
        )


def jobs(
    scenario: Scenario, paths: list[str], congestion_control: str, samples: dict[str, str]
) -> dict[str, Any]:
    """Give what each end is asked; ``samples`` are the files of the samples."""
    version = _version(scenario)
    numbers = {name: number for number, name in enumerate(scenario.paths, 1)}
    own = [
        {"address": address, "backup": scenario.paths[name].backup}
        for name in paths
        for address in addresses(numbers[name], scenario.paths[name])
        if hosts.version(address) == version
    ]
    port = scenario.server.port
    is_four = version == 4 or all(hosts.version(one) == 4 for one in server_addresses(scenario))
    everywhere = "0.0.0.0" if is_four else "[::]"  # noqa: S104 - in a network of its own
    server = next(one for one in reached_addresses(scenario) if hosts.version(one) == version)
    shared: dict[str, Any] = {
        "application": f"{LOOPBACK}:{port}",
        "congestion_control": congestion_control,
        "receive_window": scenario.tcp.max_receive_buffer,
        "send_window": scenario.tcp.send_buffer,
        "sample_ns": scenario.run.sample,
    }
    of_ends: dict[str, dict[str, Any]] = {
        "client": {"server": _socket(server, port), "paths": own},
        "server": {"server": f"{everywhere}:{port}"},
    }
    return {
        end: {
            "program": programs.quic(),
            "job": shared | own_job | ({"samples": samples[end]} if scenario.run.sample else {}),
        }
        for end, own_job in of_ends.items()
    }


def ends(scenario: Scenario) -> dict[str, Any]:
    """Give where the agents listen and connect: the program is beside each."""
    remote = [LOOPBACK, scenario.server.port]
    return {"server": {"listen": remote}, "client": {"connect": {"local": None, "remote": remote}}}


def _version(scenario: Scenario) -> int | None:
    """Give the version of IP that all paths have."""
    versions = [
        {hosts.version(address) for address in addresses(number, path)}
        for number, path in enumerate(scenario.paths.values(), 1)
    ]
    return min(set.intersection(*versions), default=None)


def _socket(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
