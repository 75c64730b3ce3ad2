"""Tables as Parquet files."""

from __future__ import annotations

from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def write_parquet(table: Any, path: Path) -> None:
    """Write a table; raises OSError when that fails, whatever polars calls it."""
    import polars as pl

    try:
        pl.DataFrame(table).write_parquet(path)
    except pl.exceptions.PolarsError as error:
        # "...: underlying IO error: No space left on device (os error 28)"
        reason = str(error).partition(" (os error")[0].rpartition(": ")[2]
        raise OSError(reason) from error
