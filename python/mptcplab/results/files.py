"""The files of runs and campaigns: what is said about them as JSON, their tables as Parquet.

polars takes a path for a pattern (``*``, ``?``, ``[``), a home directory (``~``) or an address
(``file:``). What it is given here is absolute, and no pattern.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl


# What gives anew what is damaged.
REMEDIES = {
    "run": "remove {} and run it again",
    "campaign": "sweep again into another place than {} (--out)",
}
SWEEP = "sweep again"


def read_about(file: Path, what: str, needed: set[str], schema: int) -> dict[str, Any]:
    """Read it; ``schema`` is the newest version that is known.

    Raises:
        Error: It cannot be read, says too little, or was written by a newer mptcplab.
    """
    try:
        about = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise Error(f"{file.parent} holds no {what}: {error}") from error
    except ValueError as error:
        raise unusable(file, error, REMEDIES[what].format(file.parent)) from error
    refuse_newer(file, about, schema)
    if not isinstance(about, dict) or not about.keys() >= needed:
        raise Error(f"{file.parent} holds no {what}: {file.name} lacks what a {what} has")
    return about


def unusable(file: Path, error: Exception, remedy: str) -> Error:
    """Say that a file of a run or a campaign is missing or damaged, and what helps."""
    if isinstance(error, FileNotFoundError):
        return Error(f"{file} is missing: {remedy}")
    if isinstance(error, OSError):
        return Error(f"{file} cannot be read: {error.strerror or error}")
    return Error(f"{file} is damaged ({' '.join(str(error).split())}): {remedy}")


def refuse_newer(file: Path, about: Any, schema: int) -> None:
    """Refuse what ``file`` says if a newer mptcplab wrote it."""
    written = about.get("schema") if isinstance(about, dict) else None
    if isinstance(written, int) and written > schema:
        raise Error(
            f"{file} was written by a newer mptcplab: schema {written}, this one reads {schema}"
        )


def write_parquet(table: Any, path: Path) -> None:
    """Write a table; raises OSError when that fails, whatever polars calls it."""
    import polars as pl

    try:
        pl.DataFrame(table).write_parquet(path.absolute())
    except pl.exceptions.PolarsError as error:
        # "...: underlying IO error: No space left on device (os error 28)"
        reason = str(error).partition(" (os error")[0].rpartition(": ")[2]
        raise OSError(reason) from error


def read_parquet(path: Path) -> pl.DataFrame:
    """Read one table; raises OSError or PolarsError."""
    import polars as pl

    return pl.read_parquet(path.absolute(), glob=False, hive_partitioning=False)


def scan_parquet(paths: Sequence[Path]) -> pl.LazyFrame:
    """Read tables as one; a column that some of them lack is empty there."""
    import polars as pl

    files = [path.absolute() for path in paths]
    schema: dict[str, pl.DataType] = {}
    for file in files:
        with file.open("rb") as content:
            schema |= pl.read_parquet_schema(content)
    return pl.scan_parquet(
        files, schema=schema, missing_columns="insert", glob=False, hive_partitioning=False
    )
