"""Files of one kind in a directory: all are written before the first takes its place."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

from mptcplab import Error
from mptcplab.writing import sync, sync_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def written(place: str) -> Iterator[Path]:
    """Give a directory to write files to, and put them into ``place`` when all went well.

    Files of the same names are replaced there, others left alone. When something goes wrong,
    nothing is left behind, and earlier files are as they were.
    """
    target = Path(place)
    made: list[Path] = []
    new: Path | None = None
    try:
        _make(target, made)
        # Within the directory: so it is on the same disk, whatever the directory is.
        new = Path(tempfile.mkdtemp(prefix=".mptcplab-", dir=target))
        yield new
        replaced = any((target / file.name).exists() for file in new.iterdir())
        if replaced:
            sync_all(new)
        for file in sorted(new.iterdir()):
            file.replace(target / file.name)
        if replaced:
            sync(target)
        made.clear()
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (os error")[0]
        raise Error(f"cannot write {place}: {reason}") from error
    finally:
        if new is not None:
            shutil.rmtree(new, ignore_errors=True)
        with suppress(OSError):
            for directory in reversed(made):
                directory.rmdir()


def check(target: Path) -> None:
    """Refuse a place that cannot become a directory."""
    there = target
    while not there.exists() and there != there.parent:
        if there.is_symlink():
            raise Error(f"cannot write {target}: {there} is a link to nothing")
        there = there.parent
    if not there.is_dir():
        raise Error(f"cannot write {target}: {there} is no directory")


def _make(target: Path, made: list[Path]) -> None:
    """Make a directory and what is missing above it; note what was made."""
    if not target.is_dir():
        _make(target.parent, made)
        target.mkdir()
        made.append(target)
