"""A scenario as engines take it: base units only, addresses chosen."""

from __future__ import annotations

from typing import Any

from mptcplab import _core
from mptcplab.scenario import endpoint
from mptcplab.scenario.events import Event, TcpTraffic, Traffic, UdpTraffic
from mptcplab.scenario.path import Link, Path
from mptcplab.scenario.policy import over_one_path
from mptcplab.scenario.scenario import Scenario
from mptcplab.scenario.section import kinds
from mptcplab.scenario.transfer import Bulk, ConstantBitRate, RequestResponse, Transfer

# 2025-01-01, the declared epoch of simulated time.
EPOCH_NS = 1_735_689_600 * 10**9
WAYS = {"download": "down", "upload": "up"}
SUFFIXES = {
    "rate": "_bits_per_second",
    "duration": "_ns",
    "bytes": "_bytes",
    "packets": "_packets",
}
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
                "port": scenario.server.port,
                "signal": scenario.server.announce,
            },
            "transport": _transport(scenario, baseline),
            "timeline": _timeline(scenario),
            "cross_traffic": [_traffic(traffic) for traffic in scenario.cross_traffic],
            "stop_ns": scenario.stop_ns,
            "epoch_ns": EPOCH_NS,
            "sample_ns": scenario.run.sample,
            "processing_ns": scenario.run.processing,
        }
    )


def server_addresses(scenario: Scenario) -> list[str]:
    """Give the server's addresses, in the versions of IP that the paths have."""
    versions = [version for path in scenario.paths.values() for version in _versions(path)]
    formats = {4: "10.9.{}.1", 6: "fd00:9:{}::1"}
    return [
        formats[version].format(number)
        for version in dict.fromkeys(versions)
        for number in range(scenario.server.addresses)
    ]


def addresses(number: int, path: Path) -> list[str]:
    """Give the client's addresses on its path of that number (the first is 1)."""
    return [address for address in _address(number, path, 2).values() if address is not None]


def _versions(path: Path) -> tuple[int, ...]:
    return (4, 6) if path.ip == "both" else (path.ip,)


def _address(number: int, path: Path, host: int) -> dict[str, str | None]:
    versions = _versions(path)
    return {
        "address": f"10.0.{number}.{host}" if 4 in versions else None,
        "address6": f"fd00:0:{number}::{host}" if 6 in versions else None,
    }


def _path(number: int, name: str, path: Path) -> dict[str, Any]:
    return {
        "name": name,
        "link": path.link,
        **_address(number, path, 2),
        "mtu_bytes": path.mtu,
        "backup": path.backup,
        "budget_bytes": path.budget,
        "cost_per_mb": path.cost_per_mb or 0.0,
        "attached": path.attached,
    }


def _link(link: Link) -> dict[str, Any]:
    return {"uplink": link.uplink, "downlink": link.downlink}


def _transport(scenario: Scenario, baseline: str | None) -> dict[str, Any]:
    mptcp = scenario.mptcp
    if baseline is not None:
        mptcp = mptcp.model_copy(update={"enabled": False})
    settings = endpoint.config(mptcp, scenario.tcp)
    return {"client": settings, "server": settings}


def planned_transfer(transfer: Transfer) -> dict[str, Any]:
    """Give what is transferred, in base units."""
    assert isinstance(transfer, Bulk | RequestResponse | ConstantBitRate)  # noqa: S101 - all that there are
    given: dict[str, Any] = {
        name + SUFFIXES.get(kind.name if kind else "", ""): getattr(transfer, name)
        for name, kind in kinds(type(transfer)).items()
    }
    return given | {"direction": WAYS[transfer.direction]}


def _timeline(scenario: Scenario) -> list[dict[str, Any]]:
    numbers = {name: number for number, name in enumerate(scenario.paths, 1)}
    rebound = dict.fromkeys(scenario.paths, REBOUND)
    planned = []
    for event in sorted(scenario.timeline, key=lambda event: event.at):
        one: dict[str, Any] = {"at_ns": event.at, "path": event.path, "verb": event.verb}
        if event.verb == "rebind":
            path = scenario.paths[event.path]
            address = _address(numbers[event.path], path, rebound[event.path])
            one["address"] = address["address"] or address["address6"]
            rebound[event.path] += 1
        planned.append(one | _more(event))
    return planned


def _more(event: Event) -> dict[str, Any]:
    if event.verb == "attach":
        return {"takes_ns": getattr(event, "takes")}  # noqa: B009
    if event.verb == "profile":
        return {"link": {way: getattr(event, way) for way in ("uplink", "downlink")}}
    return {}


def _traffic(traffic: Traffic) -> dict[str, Any]:
    one: dict[str, Any] = {
        "name": traffic.name,
        "link": traffic.link,
        "direction": WAYS[traffic.direction],
        "kind": traffic.kind,
        "start_ns": traffic.start,
        "stop_ns": traffic.stop,
    }
    if isinstance(traffic, TcpTraffic):
        one |= {
            "flows": traffic.flows,
            "congestion_control": over_one_path(traffic.congestion_control),
        }
    elif isinstance(traffic, UdpTraffic):
        one |= {"rate_bits_per_second": traffic.rate, "packet_bytes": traffic.packet}
    return one
