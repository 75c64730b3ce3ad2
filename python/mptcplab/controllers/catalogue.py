"""The controllers that there are, and what the kernel calls them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

PROGRAMS = Path(__file__).with_name("programs")
# By the name that scenarios have. A kernel takes 15 characters (TCP_CA_NAME_MAX).
NAMES = {
    "lia": "mptcplab_lia",
    "olia": "mptcplab_olia",
    "balia": "mptcplab_balia",
    "ewtcp": "mptcplab_ewtcp",
    "fully-coupled": "mptcplab_fully",
    "coupled-increase": "mptcplab_inc",
    "coupled-decrease": "mptcplab_dec",
}
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
VERSION_DIGITS = 12


def linux(name: str) -> str:
    """Give the kernel's name for a controller that it may be given; others have their own."""
    return NAMES.get(name, name)


def ours(name: str) -> str:
    """Give a scenario's name for what the kernel calls so."""
    return {linux: ours for ours, linux in NAMES.items()}.get(name, name)


def program(name: str) -> Path:
    """Give the compiled program of a controller."""
    return PROGRAMS / f"{NAMES[name].removeprefix('mptcplab_')}.bpf.o"


def version(name: str) -> str:
    """Tell compiled programs apart."""
    return hashlib.sha256(program(name).read_bytes()).hexdigest()[:VERSION_DIGITS]


def loaded() -> list[str]:
    """Name the controllers that are loaded."""
    try:
        available = AVAILABLE.read_text("ascii").split()
    except OSError:
        return []
    return [name for name, linux in NAMES.items() if linux in available]


def command(names: Iterable[str]) -> str:
    """Give the command that loads controllers."""
    return " ".join(["mptcplab controllers --load", *names])
