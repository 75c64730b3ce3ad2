"""Shards: directories of Parquet files, a file per table, numbered in order.

A merged one has the numbers of those that it is made of (``7-12``); one that lies within another is
a remainder of the merging.
"""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mptcplab._core import Error
from mptcplab.results.files import read_parquet, scan_parquet

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

NAME = re.compile(r"(\d+)-(\d+)")
# The digests of the other files.
SUMS = "sums.json"
# Every shard has these tables.
NEEDED = ("costs", "runs")


@dataclass(frozen=True)
class Shard:
    """A directory of tables of some runs."""

    path: Path
    first: int
    last: int

    @property
    def count(self) -> int:
        """Of how many shards it was merged."""
        return self.last - self.first + 1

    def table(self, name: str) -> Path:
        """Give the file of a table."""
        return self.path / f"{name}.parquet"


@dataclass(frozen=True)
class Checked:
    """The shards of a directory, after they were checked."""

    whole: list[Shard]
    #: Those whose runs others hold: a merging that was killed leaves them.
    within: list[Shard]
    #: What each run took.
    seconds: dict[str, float]


def listed(directory: Path) -> tuple[list[Shard], list[Shard]]:
    """Give the shards of a directory in order, and those that others hold."""
    found = []
    for path in directory.iterdir() if directory.is_dir() else ():
        name = NAME.fullmatch(path.name)
        if name:
            found.append(Shard(path, int(name[1]), int(name[2])))
    whole: list[Shard] = []
    within = []
    for shard in sorted(found, key=lambda shard: (shard.first, -shard.last)):
        if whole and shard.last <= whole[-1].last:
            within.append(shard)
        else:
            whole.append(shard)
    return whole, within


def seal(directory: Path) -> None:
    """Store digests of the files of a new shard, so that lost and changed ones are noticed."""
    sums = {file.name: _digest(file) for file in sorted(directory.iterdir())}
    (directory / SUMS).write_text(json.dumps(sums, indent=2) + "\n", "utf-8")


def checked(directory: Path, known: dict[Path, dict[str, float]]) -> Checked:
    """List the shards of a directory and check them.

    ``known`` has the seconds of shards that were checked before: they do not change.

    Raises:
        Error: A shard is damaged, or two hold the same run, or one has the numbers of another but
            not its runs; says what to do.
    """
    whole, within = listed(directory)
    seconds: dict[str, float] = {}
    holder: dict[str, Path] = {}
    for shard in whole:
        if shard.path not in known:
            known[shard.path] = _check_shard(shard)
        for run in known[shard.path]:
            if run in holder:
                raise Error(
                    f"{holder[run]} and {shard.path} both hold the run {run}: remove one of them"
                )
            holder[run] = shard.path
        seconds |= known[shard.path]
    for inner in within:
        outer = next(one for one in whole if one.first <= inner.first and inner.last <= one.last)
        # A half-removed one has none.
        with suppress(Error):
            if not _runs(inner, "costs") <= known[outer.path].keys():
                break
    else:
        return Checked(whole, within, seconds)
    raise Error(
        f"{outer.path} has the numbers of {inner.path}, but not its runs: remove {outer.path} and "
        "sweep again"
    )


def scan(shards: list[Shard], name: str) -> pl.LazyFrame | None:
    """Scan a table of all shards; ``None`` if none of them has it.

    Another version of mptcplab may have written some: a column that it did not know is empty there.
    """
    files = [file for shard in shards if (file := shard.table(name)).exists()]
    return scan_parquet(files) if files else None


def _check_shard(shard: Shard) -> dict[str, float]:
    """Give what each run of a shard took, if all its files are as they were written."""
    sums = shard.path / SUMS
    try:
        # Older versions wrote none.
        noted = dict(json.loads(sums.read_text("utf-8"))) if sums.exists() else {}
    except (OSError, ValueError, TypeError) as error:
        raise _damaged(shard, f"{sums} cannot be read: {error}") from error
    for name in noted.keys() | {shard.table(table).name for table in NEEDED}:
        file = shard.path / name
        if not file.is_file():
            raise _damaged(shard, f"{file} is missing")
        if name in noted and _digest(file) != noted[name]:
            raise _damaged(shard, f"{file} cannot be read: it has changed since it was written")
    seconds: dict[str, float] = dict(_read(shard, "costs").select("run", "seconds").iter_rows())
    if _runs(shard, "runs") != seconds.keys():
        raise _damaged(shard, f"{shard.path} has other runs in runs.parquet than in costs.parquet")
    return seconds


def _runs(shard: Shard, table: str) -> set[str]:
    return set(_read(shard, table)["run"])


def _read(shard: Shard, table: str) -> pl.DataFrame:
    import polars as pl

    file = shard.table(table)
    try:
        return read_parquet(file)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _damaged(shard, f"{file} cannot be read: {' '.join(str(error).split())}") from error


def _damaged(shard: Shard, what: str) -> Error:
    return Error(f"{what}; remove {shard.path} and sweep again: its runs are then run again")


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
