"""Names of policies, short enough for a headline."""

from __future__ import annotations

from collections.abc import Mapping

from mptcplab.controllers import catalogue

# As the field calls them. A kernel's own are Linux's by whatever name.
CONGESTION_CONTROLS = {
    "reno": "Reno",
    "cubic": "CUBIC of RFC 9438",
    "lia": "LIA",
    "olia": "OLIA",
    "balia": "BALIA",
    "wvegas": "wVegas",
    "ewtcp": "EWTCP",
    "bbr": "BBR",
    "fully-coupled": "fully coupled control",
    "coupled-increase": "coupled increase",
    "coupled-decrease": "coupled decrease",
    "global-window": "one global window",
}
UPSTREAM = {"reno": "Linux's Reno", "cubic": "Linux's CUBIC", "bbr": "Linux's BBR"}
LINUX = "-linux"
SCHEDULERS = {
    "linux": "Linux's default",
    # As a kernel calls it.
    "default": "Linux's default",
    "lowest-rtt": "lowest-RTT",
    "blest": "BLEST",
    "ecf": "ECF",
}
PATH_MANAGER = "linux"
ERA = "current"


def congestion_control(name: str, *, stack: str | None = "mptcplab") -> str:
    """Name a congestion control of ours, noq's, or the kernel's, which may be several."""
    if stack == "noq":
        return f"noq's {CONGESTION_CONTROLS[name].split()[0]}"
    if stack == "kernel":
        return " and ".join(map(_of_the_kernel, name.split(", ")))
    base = name.removesuffix(LINUX)
    if base == name:
        return CONGESTION_CONTROLS.get(name, name)
    return UPSTREAM.get(base, f"{CONGESTION_CONTROLS.get(base, base)} of the MPTCP kernel")


def _of_the_kernel(name: str) -> str:
    """Name a congestion control of the kernel, or a controller that mptcplab loads into it."""
    if (ours := catalogue.ours(name)) != name:
        return f"{CONGESTION_CONTROLS[ours]} ({name})"
    return UPSTREAM.get(name, f"Linux's {name}")


def scheduler(name: str) -> str:
    """Name a scheduler."""
    return f"{SCHEDULERS.get(name, name)} scheduler"


def converters(section: Mapping[str, str]) -> str:
    """Say where converters are, and how they know the server."""
    if section["at"] != "both":
        return f"a converter at the {section['at']}'s end"
    if section["protocol"] == "transparent":
        return "transparent converters at both ends"
    return "converters at both ends by the Convert Protocol"


def one_end(
    named: Mapping[str, str | None], replaced: Mapping[str, str], *, stack: str | None
) -> str:
    """Say what an end went by; what is as in today's Linux anyhow is not said.

    ``replaced`` holds what the scenario names and a kernel has not.
    """
    parts = []
    if (control := named.get("congestion_control")) is not None:
        parts.append(congestion_control(control, stack=stack))
        instead = replaced.get("congestion_control")
        # A server may have had what was asked for on one connection and not on another.
        if instead is not None and congestion_control(instead) not in parts[-1].split(" and "):
            parts[-1] += f" in place of {congestion_control(instead)}"
    if (chosen := named.get("scheduler")) is not None:
        parts.append(scheduler(chosen))
        if (instead := replaced.get("scheduler")) is not None:
            parts[-1] += f" in place of {scheduler(instead).removesuffix(' scheduler')}"
    manager = named.get("path_manager")
    if (instead := replaced.get("path_manager")) is not None:
        parts.append(f"Linux's path manager in place of {instead}")
    elif manager not in (None, PATH_MANAGER):
        parts.append(f"path manager {manager}")
    if (era := named.get("era")) not in (None, ERA):
        parts.append(f"era {era}")
    return ", ".join(parts)
