"""Shards: directories of Parquet files, a file per table, numbered as they came.

A merged one has the numbers of those that it is made of (``7-12``); one that lies within another is
a remainder of the merging.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

NAME = re.compile(r"(\d+)-(\d+)")


@dataclass(frozen=True)
class Shard:
    """A directory of tables of some runs."""

    path: Path
    first: int
    last: int

    @property
    def count(self) -> int:
        """Of how many it was made."""
        return self.last - self.first + 1

    def table(self, name: str) -> Path:
        """Give the file of a table."""
        return self.path / f"{name}.parquet"


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


def scan(shards: list[Shard], name: str) -> pl.LazyFrame | None:
    """Give a table of all shards; ``None`` if none of them has it.

    Another version of mptcplab may have written some: a column that it did not know is empty there.
    """
    import polars as pl

    files = [file for shard in shards if (file := shard.table(name)).exists()]
    if not files:
        return None
    schema: dict[str, pl.DataType] = {}
    for file in files:
        try:
            schema |= pl.read_parquet_schema(file)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise Error(f"{file} cannot be read: {error}") from error
    return pl.scan_parquet(files, schema=schema, missing_columns="insert")
