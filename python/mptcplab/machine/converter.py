"""The program that converts between TCP and MPTCP, which is built beside the package."""

from __future__ import annotations

from pathlib import Path

from mptcplab._core import Error

PROGRAM = Path(__file__).parents[1] / "mptcplab-convert"


def program() -> str:
    """Give where it is."""
    if not PROGRAM.exists():
        raise Error(f"{PROGRAM} was not built: only Linux has a use for it")
    return str(PROGRAM)
