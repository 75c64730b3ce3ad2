"""The directory of a campaign while it is written: every file in it is whole."""

from __future__ import annotations

import fcntl
import io
import json
import os
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path

from mptcplab import writing
from mptcplab._core import Error
from mptcplab.results import files, shards
from mptcplab.results.campaign import (
    ABOUT,
    ABOUT_SCHEMA,
    FAILURES,
    PLAN,
    RUNS,
    SCENARIOS,
    SHARDS,
)
from mptcplab.results.files import write_parquet
from mptcplab.results.ledger import LEDGER
from mptcplab.writing import NEW, created, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import polars as pl

# So many successive shards of one size are merged, unless that would be larger than this.
MERGED = 32
MOST_BYTES = 64 * 10**6


class Store:
    """A campaign's directory, which nobody else writes meanwhile."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        checked = shards.checked(directory / SHARDS, {})
        #: What each run that is done took, in seconds.
        self.done = checked.seconds
        self.failed: dict[str, str] = {}
        self._shards, self._merged = checked.whole, checked.within
        self.tidy()

    @property
    def runs(self) -> Path:
        """Where run directories are kept."""
        return self.directory / RUNS

    def begin(self, about: dict[str, Any], plan: pl.DataFrame, scenarios: dict[int, str]) -> None:
        """Write the description, the plan and the scenarios."""
        (self.directory / SCENARIOS).mkdir(exist_ok=True)
        for number, text in scenarios.items():
            self._write(Path(SCENARIOS, f"{number}.toml"), text)
        content = io.BytesIO()
        plan.write_parquet(content)
        replace(self.directory / PLAN, content.getvalue())
        self.fail({})
        self.describe(about)

    def describe(self, about: dict[str, Any]) -> None:
        """Write the description of the campaign."""
        self._write(Path(ABOUT), json.dumps(about, indent=2, ensure_ascii=False) + "\n")

    def fail(self, reasons: dict[str, str]) -> None:
        """Record runs that failed."""
        self.failed |= reasons
        self._write(Path(FAILURES), json.dumps(self.failed, indent=2) + "\n")

    def add(self, tables: dict[str, bytes], done: dict[str, float]) -> None:
        """Add a shard."""
        number = self._shards[-1].last + 1 if self._shards else 0
        shard = self._shard(number, number)
        with writing.directory(shard.path, durable=True) as new:
            for name, content in tables.items():
                (new / f"{name}.parquet").write_bytes(content)
            shards.seal(new)
        self._shards.append(shard)
        self.done |= done
        merged: list[shards.Shard] = []
        while last := self._merge():
            merged += last
        if merged:
            # Readers may still have those open that were merged last.
            self.tidy()
            self._merged = merged

    def tidy(self) -> None:
        """Remove shards that were merged into others."""
        for shard in self._merged:
            shutil.rmtree(shard.path)
        self._merged = []

    def _merge(self) -> list[shards.Shard]:
        """Merge the last shards, if they are many of one size; returns those that were merged."""
        last = self._shards[-MERGED:]
        if len(last) < MERGED or len({shard.count for shard in last}) > 1:
            return []
        files = [file for shard in last for file in shard.path.glob("*.parquet")]
        if sum(file.stat().st_size for file in files) > MOST_BYTES:
            return []
        merged = self._shard(last[0].first, last[-1].last)
        with writing.directory(merged.path, durable=True) as new:
            for name in {file.stem for file in files}:
                table = shards.scan(last, name)
                assert table is not None  # noqa: S101 - one of them has the file
                write_parquet(table.collect(), new / f"{name}.parquet")
            shards.seal(new)
        self._shards[-MERGED:] = [merged]
        return last

    def _shard(self, first: int, last: int) -> shards.Shard:
        return shards.Shard(self.directory / SHARDS / f"{first}-{last}", first, last)

    def _write(self, name: Path, text: str) -> None:
        """Write a file whole or not at all; one with this content already stays."""
        target = self.directory / name
        with suppress(FileNotFoundError):
            if target.read_bytes() == text.encode():
                return
        replace(target, text.encode())


@contextmanager
def opened(directory: Path, name: str) -> Iterator[Store]:
    """Open the directory of the campaign of that name; nobody else can write to it meanwhile."""
    with created(directory, directory):
        lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            _take(lock, directory)
            _check_ours(directory, name)
            store = Store(directory)
            yield store
            store.tidy()
        finally:
            for new in (*directory.glob(f"{NEW}*"), *(directory / SCENARIOS).glob(f"{NEW}*")):
                new.unlink(missing_ok=True)
            os.close(lock)
            with suppress(OSError):
                # Where none was kept.
                (directory / RUNS).rmdir()


def _take(lock: int, directory: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Error(
            f"{directory}: another sweep or schedule writes to it; wait for it, or choose another "
            "place (--out)"
        ) from None


def _check_ours(directory: Path, name: str) -> None:
    try:
        described = json.loads((directory / ABOUT).read_text("utf-8"))
        files.refuse_newer(directory / ABOUT, described, ABOUT_SCHEMA)
        stored_name = described["campaign"]
    except FileNotFoundError:
        if not _is_begun(directory):
            raise Error(
                f"{directory} is there and is not a campaign: choose another place (--out)"
            ) from None
        return
    except (ValueError, KeyError, TypeError):
        raise Error(
            f"{directory} is there and is not a campaign: choose another place (--out)"
        ) from None
    if stored_name != name:
        raise Error(f"{directory} holds the campaign {stored_name}: choose another place (--out)")


def _is_begun(directory: Path) -> bool:
    """Say whether a sweep may begin, or was killed before it had written what it is."""
    known = {PLAN, FAILURES, SCENARIOS, LEDGER}
    names = {path.name for path in directory.iterdir()}
    return all(name in known or name.startswith(NEW) for name in names)
