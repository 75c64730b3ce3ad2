"""Files that people write: whole, and no larger than such files are."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mptcplab._core import Error

# Scenarios, campaigns and links are pages of text; a trace has a line per packet.
MOST_BYTES = 16 * 10**6
MOST_TRACE_BYTES = 64 * 10**6


@contextmanager
def accessible() -> Iterator[None]:
    """Say which directory may not be entered, or cannot be there, as an Error of ours."""
    try:
        yield
    except OSError as error:
        raise Error(f"cannot access {error.filename}: {error.strerror}") from error


def dangling(path: Path) -> str | None:
    """Say so of a link to what is not there."""
    if not path.is_symlink():
        return None
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return f"{path} is a link to what is not there: {path.readlink()}"
    except OSError:
        # What else may be wrong with it, who opens it says.
        pass
    return None


def read_text(path: Path, most_bytes: int = MOST_BYTES) -> str:
    """Read a file of text.

    Raises:
        OSError: It cannot be read, is not a regular file, or has more bytes.
        UnicodeDecodeError: It is no text.
    """
    return read_bytes(path, most_bytes).decode("utf-8")


def read_bytes(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """Read a file.

    Devices and pipes may have no end, and opening a pipe waits for its other end.

    Raises:
        OSError: It cannot be read, is not a regular file, or has more bytes.
    """
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123
        status = os.fstat(file.fileno())
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "is not a regular file")
        # What /proc has says that it has nothing.
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"has more than {most_bytes // 10**6} MB")
    return content
