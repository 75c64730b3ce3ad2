"""Files that are whole or not there."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from mptcplab._core import Error


def write_whole(target: Path, content: bytes) -> None:
    """Write a file; an earlier one stays until the new one is complete.

    A device or a pipe is written to, and a link leads to what is written.

    Raises:
        Error: It cannot be written.
    """
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(content)
        else:
            _replace(Path(os.path.realpath(target)), content)
    except OSError as error:
        raise Error(f"cannot write {target}: {error.strerror or error}") from error


def _replace(target: Path, content: bytes) -> None:
    new = target.with_name(f".{target.name}-{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(content)
        new.replace(target)
    finally:
        with suppress(OSError):
            new.unlink()
