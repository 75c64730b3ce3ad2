"""Congestion controls, and how each may be chosen."""

from __future__ import annotations

from mptcplab.machine.check import Check, fine, limited, missing, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.machine.machine import Machine

NAME = "congestion controls"
BY_ROUTE = "by route (the sysctl of a namespace may not name them)"


def controls(machine: Machine) -> Check:
    """Those that are loaded: the sysctl of a namespace takes some, attributes of its routes all."""
    how: dict[str, str] | None = machine.tried.outcome.get("congestion_controls")
    if how is None:
        return unknown(NAME)
    by_sysctl = [name for name, way in how.items() if way == "sysctl"]
    by_route = [name for name, way in how.items() if way == "route"]
    closed = [name for name in how if name not in (*by_sysctl, *by_route)]
    found = ", ".join(by_sysctl) + " by sysctl"
    if by_route:
        found += f"; {', '.join(by_route)} {BY_ROUTE}"
    if not closed:
        return fine(NAME, found)
    everyone = machine.with_root(
        f'sysctl net.ipv4.tcp_allowed_congestion_control="{" ".join(how)}"'
    )
    return limited(NAME, found, f"{', '.join(closed)} cannot be chosen: {how[closed[0]]}", everyone)


def absent(machine: Machine, wanted: str) -> Check:
    """Say what is to be done for one that is not there, or not loaded."""
    module = f"tcp_{wanted}"
    release = machine.text("proc/sys/kernel/osrelease")
    if f"/{module}.ko" in (machine.text(f"lib/modules/{release}/modules.dep") or ""):
        load = machine.with_root(f"modprobe {module}")
        return missing(NAME, f"{wanted} is not loaded", "a module of this kernel has it", load)
    there = ", ".join(machine.tried.outcome["congestion_controls"])
    return missing(NAME, f"this kernel has no {wanted}", f"it has {there}")
