"""Files that are whole or not there."""

from __future__ import annotations

import os
from contextlib import suppress

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def write_whole(target: Path, content: bytes) -> None:
    """Write a file; an earlier one stays until the new one is complete.

    Raises:
        Error: It cannot be written.
    """
    new = target.with_name(f".{target.name}-{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(content)
        new.replace(target)
    except OSError as error:
        raise Error(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            new.unlink()
