"""MPTCP for programs that ask for TCP: of mptcpize, or of a library of ours where it is missing."""

from __future__ import annotations

import os
from pathlib import Path

from mptcplab.machine.check import Check, fine, limited
from mptcplab.machine.machine import Machine
from mptcplab.machine.tools import install

TOOL = "mptcpize"
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
