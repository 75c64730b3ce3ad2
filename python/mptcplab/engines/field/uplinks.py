"""Whether each path of a field run can be used, as the kernel has it, and what would mend it."""

from __future__ import annotations

import ipaddress
import json
import os
import socket
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mptcplab._core import Error
from mptcplab.machine.check import Check, limited

ENABLED = Path("/proc/sys/net/mptcp/enabled")
# The metric of routes that we add: existing ones come first.
METRIC = "4096"
# The limit of Linux.
MOST_SUBFLOWS = 8
CONNECT_SECONDS = 5.0
# Addresses that a NAT64 without a prefix of its own makes of IPv4 addresses (RFC 6052 §2.1).
NAT64 = ipaddress.ip_network("64:ff9b::/96")


@dataclass(frozen=True)
class Step:
    """Something to do, and how it is undone."""

    #: Words of a command.
    do: list[str]
    #: As :mod:`mptcplab.engines.field.set_up` takes it.
    undo: dict[str, Any]


@dataclass
class Examined:
    """What was found, and what would mend it."""

    checks: list[Check] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    def fine(self, name: str, found: str) -> None:
        """Record what is in order."""
        self.checks.append(Check(name, "fine", found))

    def missing(self, name: str, found: str, step: Step | str) -> None:
        """Record what is missing, with the command that mends it, or advice where none can."""
        mend = step
        if isinstance(step, Step):
            self.steps.append(step)
            mend = "sudo " + " ".join(step.do)
        self.checks.append(Check(name, "missing", found, mend=str(mend)))


def ip(*arguments: str) -> str:
    """Ask ``ip``."""
    try:
        done = subprocess.run(["ip", *arguments], check=False, capture_output=True, text=True)  # noqa: S603, S607
    except FileNotFoundError:
        raise Error("there is no ip: install iproute2") from None
    if done.returncode:
        raise Error(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def interfaces() -> list[str]:
    """Name those that are up and have an address of global scope."""
    found = json.loads(ip("-json", "address", "show", "up", "scope", "global"))
    return [one["ifname"] for one in found if one.get("addr_info")]


def examine(names: list[str], host: str, port: int) -> Examined:
    """Check each interface, and MPTCP. Hardly anything is sent, and nothing is changed."""
    examined = Examined()
    remotes = {
        name: remote
        for number, name in enumerate(names)
        if (remote := _path(examined, name, host, port, first=number == 0))
    }
    mixed = len({":" in remote for remote in remotes.values()}) > 1
    if mixed:
        _versions(examined, remotes)
    _mptcp(examined, len(names), mixed=mixed)
    _congestion_controls(examined)
    return examined


def _congestion_controls(examined: Examined) -> None:
    """Say which this user may choose."""
    name = "available" if os.geteuid() == 0 else "allowed"
    with suppress(OSError):
        file = Path(f"/proc/sys/net/ipv4/tcp_{name}_congestion_control")
        examined.fine("congestion", f"{file.read_text('ascii').strip()}: these can be chosen")


def endpoints() -> dict[str, int]:
    """Give the number of each MPTCP endpoint by its address."""
    found = {}
    for line in ip("mptcp", "endpoint", "show").splitlines():
        address, *fields = line.split()
        found[address] = int(fields[fields.index("id") + 1])
    return found


def limits() -> dict[str, int]:
    """Give the limits of MPTCP's path manager."""
    fields = ip("mptcp", "limits", "show").split()
    return {key: int(fields[fields.index(key) + 1]) for key in ("subflows", "add_addr_accepted")}


def _path(examined: Examined, name: str, host: str, port: int, *, first: bool) -> str | None:
    """Look at one; gives the server's address there."""
    try:
        (found,) = json.loads(ip("-json", "address", "show", "dev", name))
    except Error:
        examined.missing(f"{name} interface", "there is none", "connect it, or name another one")
        return None
    chosen = _chosen(found, host, port)
    if "UP" not in found["flags"] or chosen is None:
        state = "is down" if "UP" not in found["flags"] else f"has no address to reach {host} from"
        examined.missing(f"{name} address", state, "connect it to its network")
        return None
    local, network, remote = chosen
    examined.fine(f"{name} address", local)
    _route(examined, found, local, network, remote)
    _source_rule(examined, name, local, remote)
    _reach(examined, name, remote, port)
    if not first:
        _endpoint(examined, name, local)
    return remote


def _versions(examined: Examined, remotes: dict[str, str]) -> None:
    """Say what joins need between paths of IPv4 and of IPv6.

    Of an address of the other version than the connection's Linux knows by ADD_ADDR alone, and
    nobody announces what a NAT64 made.
    """
    first, *others = remotes
    is_ipv6 = ":" in remotes[first]
    for name in others:
        if (":" in remotes[name]) == is_ipv6:
            continue
        version = "IPv4" if is_ipv6 else "IPv6"
        found = f"{name} has {version}, {first} {'IPv6' if is_ipv6 else 'IPv4'}"
        meaning = f"joins by {name} need a server that announces {remotes[name]}"
        mend = f"at the server: sudo ip mptcp endpoint add {remotes[name]} signal"
        if any(ipaddress.ip_address(one) in NAT64 for one in remotes.values()):
            meaning = "Linux does not join across a NAT64 by itself"
            mend = "have the server reached by one version of IP on both paths"
        examined.checks.append(limited(f"{name} join", found, meaning, mend))


def _chosen(found: dict[str, Any], host: str, port: int) -> tuple[str, str, str] | None:
    """Give an address of an interface, its network, and one of the host's of the same version."""
    try:
        servers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise Error(f"there is no host {host}: {error.strerror}") from None
    families = {"inet": socket.AF_INET, "inet6": socket.AF_INET6}
    for one in found.get("addr_info", ()):
        for family, *_, address in servers:
            if families[one["family"]] == family and one["scope"] == "global":
                network = ipaddress.ip_interface(f"{one['local']}/{one['prefixlen']}").network
                return one["local"], str(network), str(address[0])
    return None


def _route(
    examined: Examined, found: dict[str, Any], local: str, network: str, remote: str
) -> None:
    name, version = found["ifname"], "-6" if ":" in remote else "-4"
    if ipaddress.ip_address(remote) in ipaddress.ip_network(network):
        examined.fine(f"{name} route", "the server is in its network")
        return
    what = f"{name} route"
    try:
        (chosen,) = json.loads(ip("-json", "route", "get", remote, "from", local, "oif", name))
    except Error:
        chosen = {}
    everywhere = json.loads(ip("-json", version, "route", "show", "table", "all", "dev", name))
    defaults = [one for one in everywhere if one["dst"] == "default"]
    # Without a gateway Linux takes every address for a neighbour on the interface.
    if "gateway" in chosen or any("gateway" not in one and "table" not in one for one in defaults):
        examined.fine(what, f"by {chosen.get('gateway', name)}")
        return
    gateway = next((one["gateway"] for one in defaults if "gateway" in one), None)
    if gateway is None and "POINTOPOINT" not in found["flags"]:
        mend = f"ip route add default via GATEWAY dev {name} metric {METRIC}"
        examined.missing(what, "none, and no gateway is known", f"sudo {mend}, with the gateway")
        return
    route = ["default", *(["via", gateway] if gateway else []), "dev", name, "metric", METRIC]
    step = Step(
        ["ip", version, "route", "add", *route], {"kind": "route", "words": [version, *route]}
    )
    examined.missing(what, "none in the main table", step)


def _source_rule(examined: Examined, name: str, local: str, remote: str) -> None:
    """Say by which interface unbound packets with this source leave; runs bind their sockets."""
    try:
        leaves = json.loads(ip("-json", "route", "get", remote, "from", local))[0]["dev"]
    except Error:
        leaves = "no interface"
    if leaves == name:
        found = "what has its address leaves by it, also unbound"
    else:
        found = (
            f"not needed by runs, which are bound to it; unbound, its address leaves by {leaves}"
        )
    examined.fine(f"{name} source rule", found)


def _reach(examined: Examined, name: str, remote: str, port: int) -> None:
    what = f"{name} server"
    with socket.socket(socket.AF_INET6 if ":" in remote else socket.AF_INET) as sock:
        sock.settimeout(CONNECT_SECONDS)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, name.encode())
            sock.connect((remote, port))
        except OSError as error:
            reason = error.strerror or str(error)
            examined.missing(
                what,
                f"{remote} port {port} is not reached: {reason}",
                "mend the route, have mptcplab serve run, and open its port",
            )
            return
    examined.fine(what, f"{remote} port {port} is reached")


def _endpoint(examined: Examined, name: str, local: str) -> None:
    what = f"{name} endpoint"
    if local in endpoints():
        examined.fine(what, local)
        return
    command = ["ip", "mptcp", "endpoint", "add", local, "dev", name, "subflow"]
    examined.missing(what, "none", Step(command, {"kind": "endpoint", "address": local}))


def _mptcp(examined: Examined, paths: int, *, mixed: bool) -> None:
    try:
        enabled = ENABLED.read_text().strip()
    except OSError:
        examined.missing("MPTCP", "this Linux has none", "boot a kernel with CONFIG_MPTCP")
        return
    if enabled == "1":
        examined.fine("MPTCP", "enabled")
    else:
        command = ["sysctl", "-q", "-w", "net.mptcp.enabled=1"]
        examined.missing("MPTCP", "disabled", Step(command, {"kind": "enabled", "value": enabled}))
    current = limits()
    announced = current["add_addr_accepted"]
    if current["subflows"] >= paths - 1 and (announced or not mixed):
        examined.fine("MPTCP limits", f"{current['subflows']} more subflows")
        return
    most = str(MOST_SUBFLOWS)
    command = ["ip", "mptcp", "limits", "set", "subflow", most, "add_addr_accepted", most]
    found = f"{current['subflows']} more subflows, and {paths - 1} are needed"
    if mixed and not announced:
        found = "addresses that the server announces are not taken"
    both = {"subflows": MOST_SUBFLOWS, "add_addr_accepted": MOST_SUBFLOWS}
    examined.missing(
        "MPTCP limits", found, Step(command, {"kind": "limits", **current, "set": both})
    )
