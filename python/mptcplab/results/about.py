"""What ``run.json`` and ``campaign.json`` say of what lies beside them."""

from __future__ import annotations

import json

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

# What gives anew what is damaged.
REMEDIES = {
    "run": "remove {} and run it again",
    "campaign": "sweep again into another place than {} (--out)",
}
SWEEP = "sweep again"


def read(file: Path, what: str, needed: set[str], schema: int) -> dict[str, Any]:
    """Read it; ``schema`` is the newest version that is known.

    Raises:
        Error: It cannot be read, says too little, or was written by a newer mptcplab.
    """
    try:
        about = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise Error(f"{file.parent} holds no {what}: {error}") from error
    except ValueError as error:
        raise unusable(file, error, REMEDIES[what].format(file.parent)) from error
    refuse_newer(file, about, schema)
    if not isinstance(about, dict) or not about.keys() >= needed:
        raise Error(f"{file.parent} holds no {what}: {file.name} lacks what a {what} has")
    return about


def unusable(file: Path, error: Exception, remedy: str) -> Error:
    """Say that a file of a run or a campaign is missing or damaged, and what helps."""
    if isinstance(error, FileNotFoundError):
        return Error(f"{file} is missing: {remedy}")
    if isinstance(error, OSError):
        return Error(f"{file} cannot be read: {error.strerror or error}")
    return Error(f"{file} is damaged ({' '.join(str(error).split())}): {remedy}")


def refuse_newer(file: Path, about: Any, schema: int) -> None:
    """Refuse what ``file`` says if a newer mptcplab wrote it."""
    written = about.get("schema") if isinstance(about, dict) else None
    if isinstance(written, int) and written > schema:
        raise Error(
            f"{file} was written by a newer mptcplab: schema {written}, this one reads {schema}"
        )
