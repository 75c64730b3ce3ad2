"""Tables as Parquet files, each by its name.

polars takes a path for a pattern (``*``, ``?``, ``[``), for a home (``~``) or for an address
(``file:``). What is handed to it here is absolute, and no pattern.
"""

from __future__ import annotations

from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl


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
