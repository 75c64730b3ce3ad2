"""Why a run was slow, as ``mptcplab why`` says it."""

from __future__ import annotations

from functools import cached_property
from os import PathLike

from mptcplab._core import Error
from mptcplab.results.comparison import Comparison
from mptcplab.results.findings import findings
from mptcplab.results.findings.tries import tries as tried_of
from mptcplab.results.opening import opened
from mptcplab.results.run import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import polars as pl

    Row = dict[str, Any]

# Columns of remedies that were tried.
TEXTS = ("kind", "remedy", "settings", "limit")
NUMBERS = ("claimed_s", "gained_s", "throughput_mbps", "before_mbps")


class Why:
    """What was found of a run, with what the runs beside it tell, and what remedies gave."""

    def __init__(self, comparison: Comparison, rows: list[Row], tried: list[Row] | None) -> None:
        self.comparison = comparison
        #: As rows; ``tried_rows`` is None where nothing was tried.
        self.rows = rows
        self.tried_rows = tried

    @classmethod
    def of(cls, source: str | PathLike[str] | Run | Comparison, *, tries: bool = False) -> Why:
        """Explain a run, or the one with MPTCP of what ``mptcplab run`` left.

        Raises:
            Error: There is no run, or only those of a simulation could be tried.
        """
        comparison = _comparison(source)
        rows = findings(comparison)
        return cls(comparison, rows, tried_of(comparison, rows) if tries else None)

    @cached_property
    def findings(self) -> pl.DataFrame:
        """One row per finding, as the table ``findings`` has them."""
        import polars as pl

        return pl.DataFrame(self.rows, schema=self.comparison.mptcp.tables.table("findings").schema)

    @cached_property
    def tried(self) -> pl.DataFrame:
        """One row per remedy that was tried: what it gained, and what was claimed."""
        import polars as pl

        kinds: dict[str, Any] = dict.fromkeys(TEXTS, pl.String) | {"settings": pl.List(pl.String)}
        return pl.DataFrame(self.tried_rows or [], kinds | dict.fromkeys(NUMBERS, pl.Float64))


def _comparison(source: str | PathLike[str] | Run | Comparison) -> Comparison:
    found = source if isinstance(source, (Run, Comparison)) else opened(source)
    if isinstance(found, Run):
        return Comparison(found.directory, found, {})
    if not isinstance(found, Comparison):
        raise Error(f"{source} holds no run; of captures, mptcplab analyze --why says why")
    return found
