"""Simulated runs to be compared: small scenarios, each of which has something of its own."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mptcplab import _core
from mptcplab.analysis import Analysis
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

Row = dict[str, Any]
Change = Callable[[dict[str, Any]], object]

WIFI = {"rate": "12 Mbit/s", "delay": "8 ms", "loss": "0.5 %", "queue": "60 kB"}
LTE = {"rate": "7 Mbit/s", "delay": "25 ms", "queue": "150 kB"}
SATELLITE = {"rate": "3 Mbit/s", "delay": "120 ms", "jitter": "3 ms", "queue": "100 kB"}


def base() -> dict[str, Any]:
    """Begin with a download of 800 kB over two paths, of which one loses packets."""
    return {
        "schema": 1,
        "transfer": {"direction": "download", "size": "800 kB"},
        "path": {"wifi": dict(WIFI), "lte": dict(LTE)},
        "mptcp": {},
        "tcp": {},
        "server": {},
        "timeline": [],
        "run": {"sample": "10 ms", "stop": "60 s"},
    }


def _event(at: str, path: str, verb: str, **more: Any) -> dict[str, Any]:
    return {"at": at, "path": path, "verb": verb, **more}


def _ipv6(scenario: dict[str, Any], version: int | str = 6) -> None:
    for path in scenario["path"].values():
        path["ip"] = version


def _checksums(scenario: dict[str, Any]) -> None:
    scenario["mptcp"]["checksum"] = True


def _one_path(scenario: dict[str, Any]) -> None:
    del scenario["path"]["lte"]


def _three_paths(scenario: dict[str, Any]) -> None:
    scenario["path"]["satellite"] = dict(SATELLITE)
    _checksums(scenario)
    _ipv6(scenario, "both")


def _full_mesh(scenario: dict[str, Any]) -> None:
    limits = {"max_subflows": 8, "max_add_addr_accepted": 8}
    scenario["mptcp"] |= {"path_manager": "full-mesh", **limits}


def _mesh(scenario: dict[str, Any]) -> None:
    scenario["server"]["addresses"] = 2
    _full_mesh(scenario)
    _checksums(scenario)


def _mesh_ipv6(scenario: dict[str, Any]) -> None:
    _mesh(scenario)
    _ipv6(scenario)


def _version_0(scenario: dict[str, Any]) -> None:
    _mesh(scenario)
    scenario["mptcp"]["version"] = 0


def _version_0_ipv6(scenario: dict[str, Any]) -> None:
    _version_0(scenario)
    _upload(scenario)
    _ipv6(scenario)


def _reordering(scenario: dict[str, Any]) -> None:
    delay = {
        "element": "delay",
        "delay": "15 ms",
        "jitter": "4 ms",
        "step": "300 us",
        "reorder": True,
    }
    rate = {"element": "rate", "rate": "10 Mbit/s"}
    scenario["link"] = {"air": {"uplink": [rate, delay], "downlink": [rate, delay]}}
    scenario["path"]["wifi"] = {"link": "air"}
    _checksums(scenario)


def _rebind(scenario: dict[str, Any]) -> None:
    # Linux's does not join again what it has lost.
    _full_mesh(scenario)
    scenario["timeline"] = [_event("200 ms", "lte", "rebind")]
    scenario["transfer"]["size"] = "1.5 MB"


def _path_lost(scenario: dict[str, Any]) -> None:
    scenario["transfer"]["size"] = "3 MB"
    scenario["timeline"] = [
        _event("300 ms", "wifi", "blackout"),
        _event("2 s", "wifi", "restore"),
    ]


def _interface_lost(scenario: dict[str, Any]) -> None:
    scenario["transfer"]["size"] = "3 MB"
    scenario["timeline"] = [
        _event("300 ms", "wifi", "detach"),
        _event("1 s", "wifi", "attach", takes="200 ms"),
    ]


def _held(scenario: dict[str, Any]) -> None:
    scenario["timeline"] = [_event("150 ms", "lte", "hold"), _event("600 ms", "lte", "restore")]
    _checksums(scenario)


def _backup(scenario: dict[str, Any]) -> None:
    scenario["path"]["lte"]["backup"] = True
    scenario["timeline"] = [_event("300 ms", "wifi", "blackout")]


def _requests(scenario: dict[str, Any]) -> None:
    scenario["transfer"] = {
        "application": "request-response",
        "direction": "download",
        "request": "300 B",
        "response": "60 kB",
        "requests": 5,
        "think": "50 ms",
    }
    _checksums(scenario)


def _constant(scenario: dict[str, Any]) -> None:
    scenario["transfer"] = {
        "application": "constant-bit-rate",
        "direction": "upload",
        "rate": "2 Mbit/s",
        "message": "1001 B",
        "duration": "1 s",
    }
    _checksums(scenario)


def _upload(scenario: dict[str, Any]) -> None:
    scenario["transfer"]["direction"] = "upload"
    _checksums(scenario)


def _tight(scenario: dict[str, Any]) -> None:
    scenario["tcp"] = {"receive_buffer": "40 kB", "receive_buffer_tuning": False}
    scenario["mptcp"] = {"opportunistic_retransmission": True, "penalisation": True}
    _checksums(scenario)


def _old(scenario: dict[str, Any]) -> None:
    scenario["tcp"] = {"sack": False, "timestamps": False, "window_scaling": False}
    scenario["mptcp"] = {"long_numbers": False, "checksum": True}


def _simple(scenario: dict[str, Any]) -> None:
    """What RFC 8684 asks of policies, and no more."""
    scenario["mptcp"] = {"congestion_control": "lia", "scheduler": "lowest-rtt", "checksum": True}
    _full_mesh(scenario)


def _cut(scenario: dict[str, Any]) -> None:
    scenario["transfer"] = {"direction": "download", "duration": "1 s"}
    scenario["path"]["wifi"]["delay"] = "11 ms"


def _plain(scenario: dict[str, Any]) -> None:
    scenario["mptcp"]["enabled"] = False


def _plain_ipv6(scenario: dict[str, Any]) -> None:
    _plain(scenario)
    _ipv6(scenario)


def _nothing(scenario: dict[str, Any]) -> None:
    pass


KINDS: dict[str, Change] = {
    "two-paths": _nothing,
    "one-path": _one_path,
    "checksums": _checksums,
    "ipv6": _ipv6,
    "three-paths": _three_paths,
    "mesh": _mesh,
    "mesh-ipv6": _mesh_ipv6,
    "version-0": _version_0,
    "version-0-ipv6": _version_0_ipv6,
    "reordering": _reordering,
    "rebind": _rebind,
    "path-lost": _path_lost,
    "interface-lost": _interface_lost,
    "held": _held,
    "backup": _backup,
    "requests": _requests,
    "constant-rate": _constant,
    "upload": _upload,
    "tight-buffer": _tight,
    "old-tcp": _old,
    "simple-policies": _simple,
    "duration": _cut,
    "plain-tcp": _plain,
    "plain-tcp-ipv6": _plain_ipv6,
}
PLAIN = {"plain-tcp", "plain-tcp-ipv6"}


@dataclass(frozen=True)
class SimulatedRun:
    """A run with all its payload, and what was measured while it happened."""

    name: str
    client: pathlib.Path
    server: pathlib.Path
    tables: Analysis
    outcome: dict[str, Any]


def scenario(kind: str) -> dict[str, Any]:
    made = base()
    KINDS[kind](made)
    return {name: value for name, value in made.items() if value or name == "schema"}


def planned(made: dict[str, Any], seed: int = 1, baseline: str | None = None) -> _core.Plan:
    return plan(load(made, [])[1], seed, baseline)


def simulate(
    name: str, made: _core.Plan, directory: pathlib.Path | None = None, *, full: bool = True
) -> SimulatedRun:
    """Run a scenario as the simulator takes it. Without a directory nothing is captured."""
    files = {end: directory and directory / f"{end}.pcapng" for end in ("client", "server")}
    tables = _core.simulate(
        made,
        client_capture=files["client"],
        server_capture=files["server"],
        full_payload=full,
    )
    client, server = (files[end] or pathlib.Path() for end in ("client", "server"))
    return SimulatedRun(name, client, server, Analysis(tables), tables.outcome() or {})
