"""Directories that are complete or absent: written beside and renamed."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

from mptcplab import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def written(place: str, ending: str) -> Iterator[Path]:
    """Give a directory to write to, and put it at ``place`` when all went well.

    An earlier one is replaced if it holds nothing but files that end with ``ending``.
    """
    target = Path(place)
    refuse_foreign(target, ending)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise Error(f"cannot write {place}: {error.strerror}") from error
    try:
        beside.chmod(0o777 & ~_umask())
        yield beside
        _replace(target, beside)
    except OSError as error:
        raise Error(f"cannot write {place}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def refuse_foreign(target: Path, ending: str) -> None:
    """Refuse a place that holds what is not ours."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise Error(f"{target} is there already and is no directory; name another one")
    if target.is_dir():
        foreign = next((path.name for path in target.iterdir() if path.suffix != ending), None)
        if foreign is not None:
            raise Error(f"{target} holds other files ({foreign}); name another directory")


def _replace(target: Path, beside: Path) -> None:
    if not target.exists():
        beside.rename(target)
        return
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as old:
        target.rename(Path(old, "old"))
        beside.rename(target)


def _umask() -> int:
    import os

    mask = os.umask(0)
    os.umask(mask)
    return mask
