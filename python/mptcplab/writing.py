"""Files that are whole or not there, also after the power failed."""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from mptcplab._core import Error

# What begins the names of files that are not yet what they are to be.
NEW = ".mptcplab-new-"
# File systems that cannot: fsync(2).
UNSUPPORTED = (errno.EINVAL, errno.ENOTSUP)


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
            place = Path(os.path.realpath(target))
            place.parent.mkdir(parents=True, exist_ok=True)
            replace(place, content)
    except OSError as error:
        raise Error(f"cannot write {target}: {error.strerror or error}") from error


def replace(target: Path, content: bytes) -> None:
    """Put a new file in the place of an earlier one, which goes when the new one is on the disk.

    It is made under a name that nobody else can have taken. Raises OSError.
    """
    handle, name = tempfile.mkstemp(prefix=NEW, dir=target.parent)
    new = Path(name)
    try:
        with open(handle, "wb") as file:  # noqa: PTH123 - it is open already
            file.write(content)
            file.flush()
            os.fchmod(handle, _mode(target))
            os.fsync(handle)
        new.replace(target)
        sync(target.parent)
    finally:
        with suppress(OSError):
            new.unlink()


def sync_all(directory: Path) -> None:
    """Have all that a directory holds on the disk, and then the directory. Raises OSError."""
    for place, _, names in os.walk(directory, topdown=False):
        for name in names:
            sync(Path(place, name))
        sync(Path(place))


def umask() -> int:
    """Give what new files may not have of rights."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def sync(path: Path) -> None:
    """Have a file, or the names in a directory, on the disk. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
    finally:
        os.close(handle)


def _mode(target: Path) -> int:
    """Give the rights of an earlier file, or those that a new one has."""
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        return 0o666 & ~umask()
