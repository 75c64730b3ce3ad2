"""Files and directories that are whole or not there, also after the power failed."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mptcplab._core import Error

# What begins the names of directories that are not yet what they are to be.
UNFINISHED = ".mptcplab-unfinished-"
# Who sweeps holds what somebody has just made for a moment, too.
ATTEMPTS = 20
PAUSE_SECONDS = 0.01
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
            path = Path(os.path.realpath(target))
            path.parent.mkdir(parents=True, exist_ok=True)
            replace(path, content)
    except OSError as error:
        raise Error(f"cannot write {target}: {error.strerror or error}") from error


def replace(target: Path, content: bytes) -> None:
    """Put a new file in the place of an earlier one, which goes when the new one is on the disk.

    It is made under a name that nobody else can have taken. Raises OSError.
    """
    with replacing(target) as file:
        file.write(content)


@contextmanager
def replacing(target: Path) -> Iterator[BinaryIO]:
    """Give a new file to write, and :func:`replace` an earlier one with it when all went well."""
    handle, name = tempfile.mkstemp(prefix=NEW, dir=target.parent)
    new = Path(name)
    try:
        with open(handle, "wb") as file:  # noqa: PTH123 - it is open already
            yield file
            file.flush()
            os.fchmod(handle, _mode(target))
            os.fsync(handle)
        new.replace(target)
        sync(target.parent)
    finally:
        with suppress(OSError):
            new.unlink()


@contextmanager
def directory(target: Path, *, durable: bool = False) -> Iterator[Path]:
    """Give a directory beside ``target`` to write into, and put it there when all went well.

    What is ``durable`` is on the disk then, as is whatever takes the place of something.

    Raises:
        Error: It cannot be written, or somebody else does.
    """
    with made(target.parent, target):
        sweep(target.parent)
        new, lock = _claimed(target)
        try:
            yield new
            os.fchmod(lock, 0o777 & ~umask())
            if durable or target.exists():
                sync_all(new)
            _put(target, new)
            if durable:
                sync(target.parent)
        finally:
            # Once it has moved, another may stand there.
            if _is(new, lock):
                shutil.rmtree(new, ignore_errors=True)
            os.close(lock)


@contextmanager
def files(target: Path) -> Iterator[Path]:
    """Give a directory to write files into, and put them into ``target`` when all went well.

    Files of the same names are replaced there, others left alone. When something goes wrong,
    nothing is left behind, and earlier files are as they were.

    Raises:
        Error: They cannot be written.
    """
    with made(target, target):
        # Within the directory: so it is on the same disk, whatever the directory is.
        new = Path(tempfile.mkdtemp(prefix=".mptcplab-", dir=target))
        try:
            yield new
            replaced = any((target / file.name).exists() for file in new.iterdir())
            if replaced:
                sync_all(new)
            for file in sorted(new.iterdir()):
                file.replace(target / file.name)
            if replaced:
                sync(target)
        finally:
            shutil.rmtree(new, ignore_errors=True)


@contextmanager
def made(directory: Path, target: Path) -> Iterator[None]:
    """Have a directory and all above it; those that are new and hold nothing in the end go.

    Raises:
        Error: An OSError meanwhile: ``target`` cannot be written.
    """
    new = [one for one in (directory, *directory.parents) if not one.exists()]
    try:
        directory.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (os error")[0]
        raise Error(f"cannot write {target}: {reason}") from error
    finally:
        with suppress(OSError):
            for one in new:
                one.rmdir()


def check(target: Path) -> None:
    """Refuse what cannot become a directory."""
    there = target
    while not there.exists() and there != there.parent:
        if there.is_symlink():
            raise Error(f"cannot write {target}: {there} is a link to nothing")
        there = there.parent
    if not there.is_dir():
        raise Error(f"cannot write {target}: {there} is not a directory")


def is_taken(target: Path) -> bool:
    """Say whether something is there, or is being written."""
    try:
        os.close(_lock(_claim(target)))
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EPERM):
            return True
    return target.exists()


def _claim(target: Path) -> Path:
    return target.parent / f"{UNFINISHED}{target.name}"


def _claimed(target: Path) -> tuple[Path, int]:
    """Give an empty directory for whoever writes it, and its lock; refuse if somebody does."""
    new = _claim(target)
    for _ in range(ATTEMPTS):
        with suppress(FileExistsError):
            new.mkdir(0o700)
        with suppress(BlockingIOError, FileNotFoundError):
            lock = _lock(new)
            if _is(new, lock):
                if not any(new.iterdir()):
                    os.fchmod(lock, 0o700)
                    return new, lock
                # Somebody died here.
                shutil.rmtree(new, ignore_errors=True)
            os.close(lock)
            continue
        time.sleep(PAUSE_SECONDS)
    raise Error(
        f"{target} is being written by somebody else: choose another place (--out) or wait for it"
    )


def _is(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False


def _put(target: Path, new: Path) -> None:
    """Put the new run in the place of an old one, which is gone only then."""
    if target.exists():
        old = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=target.parent))
        target.rename(old / "old")
        new.rename(target)
        sync(target.parent)
        shutil.rmtree(old)
    else:
        new.rename(target)


def sweep(path: Path) -> None:
    """Remove what runs of ours left that were killed: nobody holds its lock."""
    for left in path.glob(f"{UNFINISHED}*"):
        try:
            lock = _lock(left)
        except OSError:
            continue
        shutil.rmtree(left, ignore_errors=True)
        os.close(lock)


def _lock(directory: Path) -> int:
    """Hold a directory of our own; who dies lets go.

    Of another user's nothing is touched: they may have laid links in it, to files of ours.
    """
    try:
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        raise _foreign(directory) from error
    try:
        if os.fstat(handle).st_uid != os.geteuid():
            raise _foreign(directory)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


def _foreign(directory: Path) -> PermissionError:
    return PermissionError(
        errno.EPERM,
        f"{directory.name} beside it is not a directory of your own: choose another place (--out)",
    )


def sync_all(directory: Path) -> None:
    """Have all that a directory holds on the disk, and then the directory. Raises OSError."""
    for path, _, names in os.walk(directory, topdown=False):
        for name in names:
            sync(Path(path, name))
        sync(Path(path))


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
