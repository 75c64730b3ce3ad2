"""Whether we may have namespaces of our own, and what forbids them."""

from __future__ import annotations

from mptcplab.machine.attempts import DONE
from mptcplab.machine.check import Check, fine, missing, unknown
from mptcplab.machine.machine import Machine

USER = "user namespaces"
NETWORK = "network namespaces"
# What a container must be given: the right, no filter of system calls, a /proc that may be mounted.
GIVEN = {
    "docker": "docker run --privileged --device /dev/net/tun ...",
    "podman": "podman run --privileged --device /dev/net/tun ...",
}
# What closes user namespaces to ordinary users: a setting, its value, what it means, what opens.
CLOSED = (
    (
        "user.max_user_namespaces",
        "0",
        "nobody may have one",
        "sysctl user.max_user_namespaces=10000",
    ),
    (
        "kernel.unprivileged_userns_clone",
        "0",
        "only root may have one",
        "sysctl kernel.unprivileged_userns_clone=1",
    ),
    (
        "kernel.apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor takes every right away within",
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)


def user(machine: Machine) -> Check:
    """User namespaces, which let an ordinary user have the others."""
    if machine.is_root:
        return fine(USER, "not needed: you are root")
    if machine.tool("unshare") is None:
        return unknown(USER)
    if not machine.tried.obstacle:
        return fine(USER, "made")
    means = "namespaces of our own are what the kernel engine runs in"
    if not machine.exists("proc/self/ns/user"):
        return missing(USER, "none in this kernel", means, "sudo mptcplab ...")
    for setting, closed, meaning, opens in CLOSED:
        if machine.sysctl(setting) == closed:
            return missing(USER, f"{setting} is {closed}: {meaning}", means, f"sudo {opens}")
    found = _forbidden(machine)
    return missing(USER, found, means, GIVEN.get(machine.container, "sudo mptcplab ..."))


def network(machine: Machine) -> Check:
    """Network, mount and PID namespaces."""
    means = "the hosts of the kernel engine are network namespaces"
    if machine.tool("unshare") is None:
        return unknown(NETWORK)
    if machine.tried.obstacle:
        if not machine.is_root:
            return unknown(NETWORK)
        found = _forbidden(machine)
        if not machine.may_make_namespaces:
            found = "root without the right to make them (CAP_SYS_ADMIN)"
        return missing(NETWORK, found, means, GIVEN.get(machine.container, ""))
    inside = machine.result_of("nested")
    if inside != DONE:
        mend = machine.with_root("sysctl user.max_net_namespaces=10000")
        return missing(NETWORK, f"none within another: {inside}", means, mend)
    return fine(NETWORK, "made, and gone again")


def _forbidden(machine: Machine) -> str:
    """Say how it failed, and what it may be."""
    found = machine.tried.obstacle
    if machine.container:
        found += f" (in a container: {machine.container})"
    elif machine.status("Seccomp") == "2":
        found += " (a filter of system calls, seccomp, is on this process)"
    return found
