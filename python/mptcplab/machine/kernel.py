"""The kernel: its version, its MPTCP, IPv6."""

from __future__ import annotations

import re

from mptcplab.machine.attempts import DONE
from mptcplab.machine.check import Check, fine, limited, missing, unknown
from mptcplab.machine.machine import Machine

LINUX = "Linux"
MPTCP = "MPTCP"
# The first with MPTCP v1.
OLDEST = (5, 6)
NEWER = "a kernel with CONFIG_MPTCP=y, as Debian, Fedora and Ubuntu have had since Linux 5.15"


def linux(machine: Machine) -> Check:
    """Which one it is."""
    release = machine.text("proc/sys/kernel/osrelease")
    if release is None:
        return missing(LINUX, "this is not Linux", "the kernel engine runs Linux' own MPTCP")
    version = tuple(map(int, re.findall(r"\d+", release)[:2]))
    if version < OLDEST:
        return missing(LINUX, release, "MPTCP came with 5.6", NEWER)
    return fine(LINUX, release)


def mptcp(machine: Machine) -> Check:
    """MPTCP in it, really spoken."""
    enabled = machine.sysctl("net.mptcp.enabled")
    came = machine.came_of("mptcp")
    if enabled is None and came != DONE:
        return missing(MPTCP, "not in this kernel", "only plain TCP", NEWER)
    if came is None:
        return unknown(MPTCP)
    if came != DONE:
        return missing(MPTCP, came, "only plain TCP", "remove what forbids MPTCP sockets")
    if enabled == "0":
        elsewhere = "off outside; the engine's namespaces have settings of their own"
        return fine(MPTCP, "spoken in new namespaces", elsewhere)
    return fine(MPTCP, "v1, spoken")


def subflow_state(machine: Machine) -> Check:
    """What the kernel tells of a connection's subflows."""
    name = "state of subflows"
    came = machine.came_of("subflow_state")
    if came is None:
        return unknown(name)
    if came != DONE:
        without = "no samples of subflows in runs: it came with Linux 6.5"
        return limited(name, f"not told (MPTCP_FULL_INFO: {came})", without)
    return fine(name, "told (MPTCP_FULL_INFO)")


def schedulers(machine: Machine) -> Check:
    """Packet schedulers that scenarios may name."""
    return _named(machine, "packet schedulers", "schedulers")


def path_managers(machine: Machine) -> Check:
    """Who may manage paths."""
    return _named(machine, "path managers", "path_managers")


def ipv6(machine: Machine) -> Check:
    """IPv6, for paths that have it."""
    name = "IPv6"
    came = machine.came_of("ipv6")
    if came is None:
        return unknown(name)
    if came != DONE:
        mend = "remove ipv6.disable=1 from the kernel's command line"
        return limited(name, came, "no scenarios with paths of IPv6", mend)
    return fine(name, "spoken")


def _named(machine: Machine, name: str, what: str) -> Check:
    there = machine.tried.outcome.get(what)
    return unknown(name) if there is None else fine(name, ", ".join(there))
