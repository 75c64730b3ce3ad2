"""Files → tables: captures as one, and beside them what files of other tools tell."""

from __future__ import annotations

import json
from pathlib import Path

from mptcplab import analysis
from mptcplab._core import Error, Tables, rows
from mptcplab.results.run import StoredTables
from mptcplab.sources.reading import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike
    from typing import Any

    import polars as pl

    from mptcplab._core import Table
    from mptcplab.sources.contents import Contents

SECOND = 10**9
# Columns that count from the first packet of all, besides ``at_s``.
SINCE = {
    "connections": ("start_s",),
    "subflows": ("start_s", "end_s"),
    "transfers": ("longest_gap_start_s",),
    "findings": ("from_s", "to_s"),
}


def measure(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]], **settings: Any
) -> Tables | Together:
    """Measure what is in captures, and read what files of other tools tell.

    ``settings`` are those of ``_core.analyze``, and are about captures.

    Raises:
        Error: A file can neither be read as a capture nor as one of another tool.
    """
    captures: list[str] = []
    contents: list[Contents] = []
    for name in analysis.names(paths):
        one = read(name)
        if one is None:
            captures.append(name)
        else:
            contents.append(one)
    if not contents:
        return analysis.measure(captures, **settings)
    _refuse_part(settings)
    if captures:
        return Together(analysis.measure(captures, **settings), contents)
    if settings.get("transfer") is not None:
        raise Error("how an application was served (scenario) is measured in captures: give one")
    return Together(None, contents)


def _refuse_part(settings: dict[str, Any]) -> None:
    if settings.get("from_seconds") or settings.get("to_seconds") is not None:
        raise Error(
            "only of captures a part can be chosen (from, to): give no file of another tool"
        )


class Together(StoredTables):
    """The tables of captures and of files of other tools: connections one after the other."""

    def __init__(self, captured: Tables | None, contents: list[Contents]) -> None:
        super().__init__(Path())
        began = [one.start_ns for one in contents if one.has_clock]
        own_ns = None if captured is None else _origin_ns(captured)
        known = [at for at in (own_ns, *began) if at is not None]
        origin_ns = min(known, default=None)
        #: Captures, taken as one, and each file: by name.
        self.parts: list[tuple[str, Part]] = []
        first = 0
        if captured is not None:
            late_s = 0.0 if own_ns is None or origin_ns is None else (own_ns - origin_ns) / SECOND
            tables = {name: captured.table(name) for name in Tables.NAMES}
            self.parts.append(("captures", Part(tables, first, late_s, captured.complete)))
            first += len(tables["connections"])
        for one in contents:
            tables = _tables(one, origin_ns)
            self.parts.append((one.name, Part(tables, first, 0.0, one.complete)))
            first += len(tables["connections"])

    @property
    def complete(self) -> bool:
        """Whether every file was read to its end."""
        return all(part.complete for _, part in self.parts)

    def table(self, name: str) -> pl.DataFrame:
        """Give a table."""
        if name not in self._frames:
            import polars as pl

            self._frames[name] = pl.concat([part.table(name) for _, part in self.parts])
        return self._frames[name]


class Part(StoredTables):
    """The tables of captures or of one file, numbered and timed as one of several."""

    def __init__(
        self, tables: dict[str, Table], first: int, late_s: float, is_complete: bool
    ) -> None:
        super().__init__(Path())
        self._tables = tables
        self._first = first
        self._late_s = late_s
        self._is_complete = is_complete

    @property
    def complete(self) -> bool:
        """Whether it was read to its end."""
        return self._is_complete

    def table(self, name: str) -> pl.DataFrame:
        """Give a table."""
        if name not in self._frames:
            import polars as pl

            frame = pl.DataFrame(self._tables[name])
            moments = [one for one in (*SINCE.get(name, ()), "at_s") if one in frame.columns]
            moved = [pl.col(moments) + self._late_s] if moments else []
            if "connection" in frame.columns:
                moved.append((pl.col("connection") + self._first).cast(pl.UInt32))
            self._frames[name] = frame.with_columns(moved)
        return self._frames[name]


def _origin_ns(captured: Tables) -> int | None:
    """Give the time of the first packet; none where there is no connection."""
    row = next(iter(captured.rows("connections", columns=["start_ns", "start_s"])), None)
    return None if row is None else row["start_ns"] - round(row["start_s"] * SECOND)


def _tables(contents: Contents, origin_ns: int | None) -> dict[str, Table]:
    """Hold rows to the columns of their tables."""
    begins_ns = contents.start_ns or 0
    if contents.has_clock:
        begins_ns = begins_ns if origin_ns is None else origin_ns
    elif origin_ns is not None:
        contents.remark(
            "no_clock", "it has no times of a clock: in seconds, it begins with the first of all"
        )
    tables = dict.fromkeys(Tables.NAMES, "[]")
    unknown = [name for name in contents.tables if name not in tables]
    if unknown:
        raise Error(
            f"{contents.name}: {contents.source} gives {unknown[0]}, and there is no such table"
        )
    for name, given in contents.seconds(begins_ns):
        tables[name] = json.dumps(given)
    try:
        return {name: rows(name, text) for name, text in tables.items()}
    except Error as error:
        raise Error(
            f"{contents.name}: what {contents.source} reads does not fit: {error}"
        ) from error
