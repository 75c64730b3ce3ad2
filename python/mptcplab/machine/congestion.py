"""Congestion controls, and how each may be chosen."""

from __future__ import annotations

from collections.abc import Iterable

from mptcplab.controllers import catalogue
from mptcplab.machine.check import Check, fine, limited, unknown
from mptcplab.machine.machine import Machine

NAME = "congestion controls"
PROGRAMS = "controllers (eBPF)"
ACKS = "recorder of ACKs (eBPF)"
# With iterators in programs.
OLDEST = (6, 4)
DESCRIBED = "a kernel with CONFIG_DEBUG_INFO_BTF=y, as Debian, Fedora and Ubuntu have"


def controls(machine: Machine) -> Check:
    """Those that are loaded: the sysctl of a namespace takes some, its routes take all.

    Later subflows of a connection go by the sysctl once its program has set any option of its
    socket, unless it has chosen for itself.
    """
    methods: dict[str, str] | None = machine.tried.outcome.get("congestion_controls")
    if methods is None:
        return unknown(NAME)
    by_sysctl = [name for name, setting in methods.items() if setting == "sysctl"]
    by_route = [name for name, setting in methods.items() if setting == "route"]
    closed = [name for name in methods if name not in (*by_sysctl, *by_route)]
    found = ", ".join(by_sysctl) + " by sysctl"
    if by_route:
        found += f"; {', '.join(by_route)} by route and socket"
    if closed:
        meaning = f"{', '.join(closed)} cannot be chosen: {methods[closed[0]]}"
    elif by_route:
        meaning = f"in a shell, subflows that join may not use {', '.join(by_route)} at the server"
    else:
        return fine(NAME, found)
    return limited(NAME, found, meaning, allow(machine, methods))


def programs(machine: Machine) -> Check:
    """Controllers of ours: loaded, or what they need."""
    available = machine.values("proc/sys/net/ipv4/tcp_available_congestion_control")
    loaded = [name for name, linux in catalogue.NAMES.items() if linux in available]
    if loaded:
        return fine(PROGRAMS, f"{', '.join(loaded)} loaded")
    version = machine.version
    if version < OLDEST:
        meaning = f"{', '.join(catalogue.NAMES)} in simulations only: they need Linux 6.4"
        return limited(PROGRAMS, "not for this kernel", meaning)
    if not machine.exists("sys/kernel/btf/vmlinux"):
        meaning = f"{', '.join(catalogue.NAMES)} in simulations only"
        return limited(PROGRAMS, "the kernel describes no types", meaning, DESCRIBED)
    return fine(PROGRAMS, f"none loaded; {machine.with_root(catalogue.command([]))} loads all")


def acks(machine: Machine) -> Check:
    """Whether root may have each ACK recorded (``state_per_ack``), by a program at a tracepoint."""
    if not machine.exists("sys/kernel/btf/vmlinux"):
        return limited(ACKS, "the kernel describes no types", "no state_per_ack", DESCRIBED)
    return fine(ACKS, "for root (state_per_ack)")


def allow(machine: Machine, names: Iterable[str]) -> str:
    """Give the command that lets everybody choose these."""
    setting = "net.ipv4.tcp_allowed_congestion_control"
    return machine.with_root(f'sysctl {setting}="{" ".join(names)}"')


def load(machine: Machine, name: str) -> str:
    """Give the command that loads one; empty where the kernel has none such."""
    if name in catalogue.NAMES:
        return machine.with_root(catalogue.command([name]))
    module = f"tcp_{name}"
    release = machine.text("proc/sys/kernel/osrelease")
    modules = machine.text(f"lib/modules/{release}/modules.dep") or ""
    return machine.with_root(f"modprobe {module}") if f"/{module}.ko" in modules else ""
