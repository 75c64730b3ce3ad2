"""A scenario as engines take it: base units only, addresses chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mptcplab import _core
from mptcplab.scenario import endpoint, kernel, translation
from mptcplab.scenario.converter import LANS, PORT
from mptcplab.scenario.element import NAT64
from mptcplab.scenario.path import Link, Path
from mptcplab.scenario.policy import over_one_path
from mptcplab.scenario.resolved import Scenario
from mptcplab.scenario.section import in_base_units
from mptcplab.scenario.source import Source
from mptcplab.scenario.timeline import Event
from mptcplab.scenario.traffic import Traffic
from mptcplab.scenario.transfer import Transfer

# 2025-01-01, the declared epoch of simulated time.
EPOCH_NS = 1_735_689_600 * 10**9
# Where the addresses start that a path gets when its public address changes.
REBOUND = 99


def plan(scenario: Scenario, seed: int, baseline: str | None = None) -> _core.Plan:
    """Give what engines run: the scenario, or plain TCP over one of its paths."""
    kind = {"kind": "mptcp"} if baseline is None else {"kind": "tcp", "path": baseline}
    return _core.Plan(
        {
            "schema": 1,
            "seed": seed,
            "run": kind,
            "transfer": planned_transfer(scenario.transfer),
            "links": {name: _link(link) for name, link in scenario.links.items()},
            "paths": [
                _path(number, name, path)
                for number, (name, path) in enumerate(scenario.paths.items(), 1)
            ],
            "server": {
                "addresses": server_addresses(scenario),
                **in_base_units(scenario.server),
            },
            "transport": _transport(scenario, baseline),
            "timeline": _timeline(scenario),
            "cross_traffic": [_traffic(traffic) for traffic in scenario.cross_traffic],
            "epoch_ns": EPOCH_NS,
            "settings": in_base_units(scenario.run),
            **(_converters(scenario) if baseline is None else {}),
        }
    )


def _converters(scenario: Scenario) -> dict[str, Any]:
    if (section := scenario.converter) is None:
        return {}
    versions = dict.fromkeys(
        version for path in scenario.paths.values() for version in _versions(path)
    )
    ends: dict[str, Any] = {
        end: {
            "gateway": [lan[version][0] for version in versions],
            "host": [lan[version][1] for version in versions],
        }
        if section.at in ("both", end)
        else None
        for end, lan in LANS.items()
    }
    port = PORT if section.protocol == "convert" else None
    return {"converters": {**ends, "port": port, "fast_open": section.fast_open}}


def server_addresses(scenario: Scenario) -> list[str]:
    """Give the server's addresses, in the versions of IP that the paths have."""
    versions = [version for path in scenario.paths.values() for version in _versions(path)]
    formats = {4: "10.9.{}.1", 6: "fd00:9:{}::1"}
    return [
        formats[version].format(number)
        for version in dict.fromkeys(versions)
        for number in range(scenario.server.addresses)
    ]


def reached_addresses(scenario: Scenario) -> list[str]:
    """Give the server's addresses as the client's names lead to them: DNS64 adds to those of IPv4.

    It does so where there are none of IPv6 (RFC 6147 section 5.1).
    """
    own = server_addresses(scenario)
    versions = {path.ip for path in scenario.paths.values()}
    if NAT64 not in versions or any(":" in one for one in own):
        return own
    made = [translation.dns64(one) for one in own]
    return made if versions == {NAT64} else own + made


def addresses(number: int, path: Path) -> list[str]:
    """Give the client's addresses on its path of that number (the first is 1)."""
    return [address for address in _address(number, path, 2).values() if address is not None]


def _versions(path: Path) -> tuple[int, ...]:
    """Give the versions of IP that the server has for a path."""
    if path.ip == "both":
        return (4, 6)
    return (6,) if path.ip == 6 else (4,)


def _address(number: int, path: Path, host: int) -> dict[str, str | None]:
    if path.ip == NAT64:
        return {"address": None, "address6": translation.inside(f"10.0.{number}.{host}")}
    versions = _versions(path)
    return {
        "address": f"10.0.{number}.{host}" if 4 in versions else None,
        "address6": f"fd00:0:{number}::{host}" if 6 in versions else None,
    }


def _path(number: int, name: str, path: Path) -> dict[str, Any]:
    return {"name": name, **_address(number, path, 2), **in_base_units(path)}


def _link(link: Link | Event) -> dict[str, Any]:
    return {"uplink": link.uplink, "downlink": link.downlink}


def _transport(scenario: Scenario, baseline: str | None) -> dict[str, Any]:
    mptcp = scenario.mptcp
    if baseline is not None:
        mptcp = mptcp.model_copy(update={"enabled": False})
    version = scenario.server.version
    servers = mptcp if version is None else mptcp.model_copy(update={"version": version})
    return {
        "client": endpoint.config(mptcp, scenario.tcp),
        "server": endpoint.config(servers, scenario.tcp),
    }


def planned_transfer(transfer: Transfer) -> dict[str, Any]:
    """Give what is transferred, in base units."""
    return {"application": transfer.application, **in_base_units(transfer)}


def _timeline(scenario: Scenario) -> list[dict[str, Any]]:
    numbers = {name: number for number, name in enumerate(scenario.paths, 1)}
    rebound = dict.fromkeys(scenario.paths, REBOUND)
    planned = []
    for event in sorted(scenario.timeline, key=lambda event: event.at):
        one = {"verb": event.verb, **in_base_units(event)}
        if event.verb == "rebind":
            path = scenario.paths[event.path]
            address = _address(numbers[event.path], path, rebound[event.path])
            one["address"] = address["address"] or address["address6"]
            rebound[event.path] += 1
        elif event.verb == "profile":
            one["link"] = _link(event)
        planned.append(one)
    return planned


def _traffic(traffic: Traffic) -> dict[str, Any]:
    one = {"kind": traffic.kind, **in_base_units(traffic)}
    if traffic.kind == "tcp":
        one["congestion_control"] = over_one_path(traffic.congestion_control)
    return one


def plain(scenario: Scenario, *, linux: bool) -> Scenario:
    """Give the scenario with all as usual that only MPTCP looks at, and ``[kernel]`` without Linux.

    Scenarios of which this gives the same have the same baselines.
    """
    # Simulated endpoints hand data to their only subflow as their scheduler does, too.
    scheduler = {key: getattr(scenario.mptcp, key) for key in ("scheduler", "scheduler_parameters")}
    nothing = Source("scenario", {})
    mptcp = endpoint.read_mptcp({}, nothing)
    usual = kernel.read_kernel({}, mptcp, nothing)
    if linux:
        # What plain TCP takes may follow what MPTCP takes.
        alone = {"congestion_control": usual.congestion_control}
        usual = scenario.kernel.model_copy(update=alone)
    return replace(
        scenario,
        mptcp=mptcp.model_copy(update=scheduler),
        tcp=scenario.tcp.model_copy(
            update={"congestion_control": over_one_path(scenario.tcp.congestion_control)}
        ),
        kernel=usual,
        converter=None,
    )
