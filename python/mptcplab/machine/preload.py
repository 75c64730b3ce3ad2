"""MPTCP for programs that ask for TCP.

Of mptcpize, of a library of ours where it is missing, or of the kernel.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mptcplab.machine.attempts import DONE
from mptcplab.machine.check import Check, fine, limited, unknown
from mptcplab.machine.machine import Machine
from mptcplab.machine.tools import install

TOOL = "mptcpize"
ALL = "MPTCP for all programs"
ASKED = Path(__file__).with_name("multipath.py")
LIBRARY = Path(__file__).parents[1] / "libpreload.so"
VARIABLE = "LD_PRELOAD"
# Characters that ld.so(8) takes for the end of a name, at any position.
SEPARATORS = " :"


def prefix(machine: Machine) -> tuple[str, ...]:
    """Give the words that stand before a program's to have it, and what it starts, use MPTCP."""
    tool = machine.tool(TOOL)
    if tool is not None:
        return (tool, "run")
    others = os.environ.get(VARIABLE)
    return ("env", f"{VARIABLE}={others}:{LIBRARY}" if others else f"{VARIABLE}={LIBRARY}")


def prefix_of_all() -> tuple[str, ...]:
    """Give those for programs that no library reaches, too."""
    return (sys.executable, "-I", "-S", str(ASKED))


def check_all(machine: Machine) -> Check:
    """Whether the kernel asks us about sockets (seccomp, since Linux 5.14)."""
    result = machine.result_of("multipath")
    if result is None:
        return unknown(ALL)
    if result != DONE:
        return limited(ALL, result, "no --mptcpize-all for static programs and Go in a shell")
    return fine(ALL, "handed to them (seccomp)")


def check(machine: Machine) -> Check:
    """Whether that can be done, and by what."""
    tool = machine.tool(TOOL)
    if tool is not None:
        return fine(TOOL, tool)
    obstacle = _obstacle()
    if not obstacle:
        return fine(TOOL, f"not installed; {LIBRARY} does the same")
    return limited(
        TOOL,
        f"not installed, and {LIBRARY}, which does the same, {obstacle}",
        "programs that do not ask for MPTCP cannot be given it in a shell",
        install(machine, TOOL),
    )


def _obstacle() -> str:
    if not LIBRARY.exists():
        return "was not built"
    if any(separator in str(LIBRARY) for separator in SEPARATORS):
        return f"cannot be named in {VARIABLE}: its place has a space or a colon"
    return ""
