"""Programs that the kernel engine calls, and those that are good to have in a shell."""

from __future__ import annotations

from mptcplab.machine.attempts import DONE
from mptcplab.machine.check import Check, fine, limited, missing
from mptcplab.machine.machine import Machine

# Programs that install packages, and their commands.
INSTALLERS = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "zypper": "zypper install",
    "pacman": "pacman -S",
    "apk": "apk add",
}
# Where a package has another name than with Debian.
OTHER_NAMES = {
    ("dnf", "iproute2"): "iproute",
    ("dnf", "mptcpize"): "mptcpd",
    ("zypper", "mptcpize"): "mptcpd",
    ("pacman", "mptcpize"): "mptcpd",
}
UTIL_LINUX = ("unshare", "nsenter", "setpriv")
# Program, package, what is missing without it.
OPTIONAL = (
    ("ss", "iproute2", "no look at sockets in a shell"),
    ("nft", "nftables", "no packet filter in a shell"),
    ("tcpdump", "tcpdump", "no live capture in a shell; runs are captured all the same"),
)


def iproute(machine: Machine) -> Check:
    """``ip``, which must support MPTCP."""
    name = "ip"
    needed = "it makes addresses, routes and MPTCP endpoints"
    if machine.tool("ip") is None:
        return missing(name, "not installed", needed, install(machine, "iproute2"))
    version = machine.output_of("ip", "-V").partition(", ")[2].partition(",")[0] or "of no version"
    result = machine.result_of("endpoints")
    no_kernel = machine.sysctl("net.mptcp.enabled") is None
    if result in (None, DONE) or no_kernel:
        return fine(name, version)
    return missing(
        name,
        f"{version}, which cannot make MPTCP endpoints: {result}",
        needed,
        install(machine, "iproute2") + "  (5.14 or newer)",
    )


def util_linux(machine: Machine) -> Check:
    """Programs that make and enter namespaces, and end with their parent."""
    name = ", ".join(UTIL_LINUX)
    absent = [tool for tool in UTIL_LINUX if machine.tool(tool) is None]
    needed = "they make and enter namespaces"
    if absent:
        found = f"{', '.join(absent)} not installed"
        return missing(name, found, needed, install(machine, "util-linux"))
    result = machine.result_of("dies_with_us")
    if result not in (None, DONE):
        return missing(name, f"too old: {result}", needed, install(machine, "util-linux"))
    return fine(name, machine.output_of("unshare", "--version").removeprefix("unshare from "))


def optional(machine: Machine) -> list[Check]:
    """Optional programs for a shell."""
    checks = []
    for tool, package, without in OPTIONAL:
        file = machine.tool(tool)
        if file is None:
            checks.append(limited(tool, "not installed", without, install(machine, package)))
        else:
            checks.append(fine(tool, file))
    return checks


def install(machine: Machine, package: str) -> str:
    """Give the command that installs a package here."""
    for installer, command in INSTALLERS.items():
        if machine.tool(installer):
            name = OTHER_NAMES.get((installer, package), package)
            return machine.with_root(f"{command} {name}")
    return f"install {package}"
