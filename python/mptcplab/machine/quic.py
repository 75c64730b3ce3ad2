"""The program that carries data over QUIC, which is built on demand."""

from __future__ import annotations

import shutil
from pathlib import Path

from mptcplab._core import Error

NAME = "mptcplab-quic"
#: Where ``make quic`` puts it.
PROGRAM = Path(__file__).parents[1] / NAME


def program() -> str:
    """Give where it is: beside the package, or anywhere on the path."""
    found = str(PROGRAM) if PROGRAM.exists() else shutil.which(NAME)
    if found is None:
        raise Error(
            f"QUIC needs the program {NAME}, which is not built: run make quic in the source of "
            "mptcplab"
        )
    return found
