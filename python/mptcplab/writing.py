"""Files and directories that are whole or absent, also after a power failure."""

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

# Prefix of the names of unfinished directories.
UNFINISHED = ".mptcplab-unfinished-"
# How often a new directory is tried to be locked: sweeping locks it for a moment, too.
ATTEMPTS = 20
PAUSE_SECONDS = 0.01
# Prefix of the names of unfinished files.
NEW = ".mptcplab-new-"
# Errors of file systems that cannot sync: fsync(2).
UNSUPPORTED = (errno.EINVAL, errno.ENOTSUP)


def beside(directory: Path, ending: str) -> Path:
    """Name a file by a directory and beside it, also where that is the current one."""
    named = directory.resolve() if directory.name in ("", "..") else directory
    return named.with_name(f"{named.name}{ending}")


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
    """Write a new file, which replaces an earlier one once it is on the disk.

    It is written under a name that nobody else can have taken. Raises OSError.
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
    """Give a directory beside ``target`` to write into, and rename it to ``target`` on success.

    It is on the disk then if it is ``durable``, or replaces an earlier one.

    Raises:
        Error: It cannot be written, or is being written by somebody else.
    """
    with created(target.parent, target):
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
            # Once it is renamed, another may have its name.
            if _is(new, lock):
                shutil.rmtree(new, ignore_errors=True)
            os.close(lock)


@contextmanager
def files(target: Path) -> Iterator[Path]:
    """Give a directory to write files into, and move them into ``target`` on success.

    Files of the same names are replaced there, others left alone. When something goes wrong,
    nothing is left behind, and earlier files are as they were.

    Raises:
        Error: They cannot be written.
    """
    with created(target, target):
        # Within the target, so that both are on the same disk.
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
def created(directory: Path, target: Path) -> Iterator[None]:
    """Create a directory and its parents; new ones that are empty in the end are removed.

    Raises:
        Error: Of an OSError meanwhile: ``target`` cannot be written.
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
    """Refuse a path that cannot become a directory."""
    existing = target
    while not existing.exists() and existing != existing.parent:
        if existing.is_symlink():
            raise Error(f"cannot write {target}: {existing} is a link to nothing")
        existing = existing.parent
    if not existing.is_dir():
        raise Error(f"cannot write {target}: {existing} is not a directory")


def is_taken(target: Path) -> bool:
    """Say whether it exists, or is being written."""
    try:
        os.close(_lock(_claim(target)))
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EPERM):
            return True
    return target.exists()


def _claim(target: Path) -> Path:
    return target.parent / f"{UNFINISHED}{target.name}"


def _claimed(target: Path) -> tuple[Path, int]:
    """Give an empty directory to write, and its lock; refuse if somebody else writes it."""
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
                # Its writer was killed.
                shutil.rmtree(new, ignore_errors=True)
            os.close(lock)
            continue
        time.sleep(PAUSE_SECONDS)
    raise Error(
        f"{target} is being written by somebody else: choose another place (--out) or wait for it"
    )


def _is(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _put(target: Path, new: Path) -> None:
    """Rename a new directory to ``target``, and remove an earlier one after that."""
    if target.exists():
        old = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=target.parent))
        target.rename(old / "old")
        new.rename(target)
        sync(target.parent)
        shutil.rmtree(old)
    else:
        new.rename(target)


def sweep(path: Path) -> None:
    """Remove what killed runs of ours left: nobody holds its lock."""
    for left in path.glob(f"{UNFINISHED}*"):
        try:
            lock = _lock(left)
        except OSError:
            continue
        shutil.rmtree(left, ignore_errors=True)
        os.close(lock)


def _lock(directory: Path) -> int:
    """Lock a directory of our own until it is closed or we end.

    Those of other users are not touched: they may hold links to files of ours.
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
    """Sync all that a directory holds, and then the directory, to the disk. Raises OSError."""
    for path, _, names in os.walk(directory, topdown=False):
        for name in names:
            sync(Path(path, name))
        sync(Path(path))


def umask() -> int:
    """Give the mask of permissions that new files do not get."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def sync(path: Path) -> None:
    """Sync a file, or the names in a directory, to the disk. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
    finally:
        os.close(handle)


def _mode(target: Path) -> int:
    """Give the permissions of an earlier file, or those of a new one."""
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        return 0o666 & ~umask()
