"""What ``run.json`` and ``campaign.json`` say of what lies beside them."""

from __future__ import annotations

import json

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


def read(file: Path, what: str, needed: set[str], schema: int) -> dict[str, Any]:
    """Read it; ``schema`` is the newest version that is known.

    Raises:
        Error: It cannot be read, says too little, or was written by a newer mptcplab.
    """
    try:
        about = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise Error(f"{file.parent} holds no {what}: {error}") from error
    refuse_newer(file, about, schema)
    if not isinstance(about, dict) or not about.keys() >= needed:
        raise Error(f"{file.parent} holds no {what}: {file.name} lacks what a {what} has")
    return about


def refuse_newer(file: Path, about: Any, schema: int) -> None:
    """Refuse what ``file`` says if a newer mptcplab wrote it."""
    written = about.get("schema") if isinstance(about, dict) else None
    if isinstance(written, int) and written > schema:
        raise Error(
            f"{file} was written by a newer mptcplab: schema {written}, this one reads {schema}"
        )
