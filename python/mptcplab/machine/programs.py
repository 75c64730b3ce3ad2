"""Programs of ours that are not in Python."""

from __future__ import annotations

import shutil
from pathlib import Path

from mptcplab._core import Error

BESIDE = Path(__file__).parents[1]
#: Where ``make quic`` puts it.
QUIC = BESIDE / "mptcplab-quic"


def converter() -> str:
    """Give the path of what converts between TCP and MPTCP, which is built beside the package."""
    return _built("mptcplab-convert")


def guard() -> str:
    """Give the path of what watches a host's paths, which is built beside the package."""
    return _built("mptcplab-guard")


def quic() -> str:
    """Give the path of what carries data over QUIC: beside the package, or where a shell looks."""
    found = str(QUIC) if QUIC.exists() else shutil.which(QUIC.name)
    if found is None:
        raise Error(
            f"QUIC needs the program {QUIC.name}, which is not built: run make quic in the source "
            "of mptcplab"
        )
    return found


def _built(name: str) -> str:
    program = BESIDE / name
    if not program.exists():
        raise Error(f"{program} was not built: only Linux has a use for it")
    return str(program)
