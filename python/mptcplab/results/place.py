"""Run directories: complete or absent, ours or left alone."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from mptcplab._core import Error
from mptcplab.engines.engine import CAPTURES
from mptcplab.results.run import ABOUT
from mptcplab.writing import sync, sync_all, umask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

UNFINISHED = ".mptcplab-unfinished-"
# Who sweeps holds what somebody has just made for a moment, too.
ATTEMPTS = 20
PAUSE_SECONDS = 0.01


def found(target: Path, identity: dict[str, Any], *, force: bool) -> bool:
    """Say whether this very run is there already; refuse to touch what is not ours to replace.

    One of which files are missing or cut does not count: it is to be run again.
    """
    try:
        about = json.loads((target / ABOUT).read_text("utf-8"))
        theirs, known = dict(about["identity"]), dict(about["sizes"])
    except (FileNotFoundError, NotADirectoryError):
        if _is_free(target):
            return False
        raise Error(f"{target} is there and is no run: choose another place (--out)") from None
    except PermissionError as error:
        raise Error(f"cannot read {target}: {error.strerror}") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise Error(f"{target} is there and is no run: choose another place (--out)") from None
    there = sizes(target)
    same = all(there.get(name) == size for name, size in known.items())
    if (force or not same) and (foreign := sorted(there.keys() - known.keys())):
        raise Error(
            f"{target} is to be replaced and holds {foreign[0]}, which is no part of the run: move "
            "it elsewhere"
        )
    if force:
        return False
    differ = [
        key for key, value in identity.items() if key != "captures" and theirs.get(key) != value
    ]
    kept = theirs.get("captures")
    if kept not in CAPTURES or CAPTURES.index(kept) < CAPTURES.index(identity["captures"]):
        differ.append("captures")
    if differ:
        what = " and ".join(differ) + (" differs" if len(differ) == 1 else " differ")
        raise Error(
            f"{target} holds another run (its {what}): choose another place (--out) or replace it "
            "(--force)"
        )
    return same


def sizes(run: Path) -> dict[str, int]:
    """Give the bytes of each file of a run, but for what is about them."""
    files = (path for path in sorted(run.rglob("*")) if path.is_file() and path != run / ABOUT)
    return {str(path.relative_to(run)): path.stat().st_size for path in files}


def _is_free(target: Path) -> bool:
    there = target
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise Error(f"cannot write {target}: {there} is not a directory")
    return there != target or not any(target.iterdir())


@contextmanager
def written(target: Path, *, durable: bool = False) -> Iterator[Path]:
    """Give a directory beside ``target`` to write into, and put it there when all went well.

    What is ``durable`` is on the disk then, as is whatever takes the place of something.
    """
    made = [parent for parent in target.parents if not parent.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        sweep(target.parent)
        new, lock = _claimed(target)
    except OSError as error:
        raise Error(f"cannot write {target}: {error.strerror or error}") from error
    try:
        yield new
        os.fchmod(lock, 0o777 & ~umask())
        if durable or target.exists():
            sync_all(new)
        _replace(target, new)
        if durable:
            sync(target.parent)
    except OSError as error:
        raise Error(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        # Once it has moved, another may stand there.
        if _is(new, lock):
            shutil.rmtree(new, ignore_errors=True)
        os.close(lock)
        # Those that hold something stay.
        with suppress(OSError):
            for directory in made:
                directory.rmdir()


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


def _is(place: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), place.lstat())
    except FileNotFoundError:
        return False


def _replace(target: Path, new: Path) -> None:
    """Put the new run in the place of an old one, which is gone only then."""
    if target.exists():
        old = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=target.parent))
        target.rename(old / "old")
        new.rename(target)
        sync(target.parent)
        shutil.rmtree(old)
    else:
        new.rename(target)


def sweep(place: Path) -> None:
    """Remove what runs of ours left that were killed: nobody holds its lock."""
    for left in place.glob(f"{UNFINISHED}*"):
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
        f"{directory.name} beside it is no directory of your own: choose another place (--out)",
    )
