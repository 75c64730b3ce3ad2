"""The kernel: its version, its MPTCP, IPv6."""

from __future__ import annotations

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
    if machine.version < OLDEST:
        return missing(LINUX, release, "MPTCP came with 5.6", NEWER)
    return fine(LINUX, release)


def mptcp(machine: Machine) -> Check:
    """MPTCP in it, really spoken."""
    enabled = machine.sysctl("net.mptcp.enabled")
    result = machine.result_of("mptcp")
    if enabled is None and result != DONE:
        return missing(MPTCP, "not in this kernel", "only plain TCP", NEWER)
    if result is None:
        return unknown(MPTCP)
    if result != DONE:
        return missing(MPTCP, result, "only plain TCP", "remove what forbids MPTCP sockets")
    if enabled == "0":
        meaning = "off outside; the engine's namespaces have settings of their own"
        return fine(MPTCP, "spoken in new namespaces", meaning)
    return fine(MPTCP, "v1, spoken")


def subflow_state(machine: Machine) -> Check:
    """Whether the kernel gives the state of a connection's subflows."""
    name = "state of subflows"
    result = machine.result_of("subflow_state")
    if result is None:
        return unknown(name)
    if result != DONE:
        without = "no samples of subflows in runs: it came with Linux 6.5"
        return limited(name, f"not reported (MPTCP_FULL_INFO: {result})", without)
    return fine(name, "reported (MPTCP_FULL_INFO)")


def schedulers(machine: Machine) -> Check:
    """Packet schedulers that scenarios may name."""
    return _named(machine, "packet schedulers", "schedulers")


def path_managers(machine: Machine) -> Check:
    """Path managers that scenarios may name."""
    return _named(machine, "path managers", "path_managers")


def ipv6(machine: Machine) -> Check:
    """IPv6, for paths that have it."""
    name = "IPv6"
    result = machine.result_of("ipv6")
    if result is None:
        return unknown(name)
    if result != DONE:
        mend = "remove ipv6.disable=1 from the kernel's command line"
        return limited(name, result, "no scenarios with paths of IPv6", mend)
    return fine(name, "spoken")


def _named(machine: Machine, name: str, key: str) -> Check:
    names = machine.tried.outcome.get(key)
    return unknown(name) if names is None else fine(name, ", ".join(names))
