"""Tables of the connections that a filter chooses."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Self

from mptcplab._core import Error, Tables
from mptcplab.results.choosing import choose
from mptcplab.results.run import StoredTables

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl


class Chosen(StoredTables):
    """The rows of some connections, and those that are of none; numbers stay as they are."""

    def __init__(self, tables: Tables | StoredTables, connections: Iterable[int]) -> None:
        super().__init__(Path())
        self._all = tables
        self._connections = list(connections)

    @classmethod
    def of(cls, tables: Tables | StoredTables, expression: str) -> Self:
        """Choose by an expression, as ``choose`` reads it.

        Raises:
            Error: It cannot be read, or no connection meets it.
        """
        rows = tables.rows("connections"), tables.rows("subflows")
        return cls(tables, choose(expression, *rows))

    @property
    def complete(self) -> bool:
        """Whether every capture was read to its end."""
        return self._all.complete

    def table(self, name: str) -> pl.DataFrame:
        """Give a table."""
        if name not in self._frames:
            import polars as pl

            frame = pl.DataFrame(self._all.table(name))
            if "connection" in frame.columns:
                own = pl.col("connection")
                frame = frame.filter(own.is_in(self._connections) | own.is_null())
            self._frames[name] = frame
        return self._frames[name]

    @classmethod
    def narrowed(
        cls, tables: Tables | StoredTables, expression: str | None, connection: int | None
    ) -> Tables | StoredTables:
        """Give those that an expression chooses, of them one connection, or all.

        Raises:
            Error: The expression cannot be read, or no connection meets it, or not that one.
        """
        chosen = tables if expression is None else cls.of(tables, expression)
        if connection is None:
            return chosen
        count = len(chosen.table("connections"))
        if isinstance(chosen, Chosen):
            if connection not in chosen._connections:
                raise Error(
                    f"connection {connection} is not among the {count} that the filter chooses"
                )
        elif connection >= count:
            known = {0: "none", 1: "only connection 0"}.get(count, f"connections 0 to {count - 1}")
            raise Error(f"there is no connection {connection}; the captures hold {known}")
        return chosen.only(connection) if isinstance(chosen, Tables) else cls(chosen, [connection])
