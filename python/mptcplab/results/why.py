"""Why a run was slow, as ``mptcplab why`` says it."""

from __future__ import annotations

import itertools
from functools import cached_property
from os import PathLike
from pathlib import Path

from mptcplab import pages
from mptcplab._core import Error
from mptcplab.labels import text
from mptcplab.results.campaign import Campaign
from mptcplab.results.comparison import Comparison
from mptcplab.results.findings import findings
from mptcplab.results.findings.tries import SERVED
from mptcplab.results.findings.tries import tries as tried_of
from mptcplab.results.opening import opened
from mptcplab.results.run import Run
from mptcplab.results.unanswered import unanswered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import polars as pl

    from mptcplab.analysis import Measured

    Row = dict[str, Any]

# Columns of remedies that were tried.
TEXTS = ("kind", "remedy", "settings", "limit")
NUMBERS = (
    "claimed_s",
    "gained_s",
    "throughput_mbps",
    "before_mbps",
    "rtt_ms_mean",
    "rtt_before_ms",
    *itertools.chain(*SERVED.items()),
)


class Why:
    """Findings of a run and the runs beside it, or of captures; and the effect of remedies."""

    def __init__(
        self,
        tables: Measured,
        rows: list[Row],
        tried: list[Row] | None,
        model: Row | None = None,
        run: Run | None = None,
    ) -> None:
        self.tables = tables
        #: The run with MPTCP; None of captures, which rows call as they were given.
        self.run = run
        #: As rows; ``tried_rows`` is None where nothing was tried.
        self.rows = rows
        self.tried_rows = tried
        #: Of captures whose remedies were tried: the model that they were tried in, and how far off
        #: it is, and which of its paths never were full: what they gain is a minimum.
        self.model = model

    @classmethod
    def of(cls, source: str | PathLike[str] | Run | Comparison, *, tries: bool = False) -> Why:
        """Explain a run, or the run with MPTCP in a directory of ``mptcplab run``.

        Raises:
            Error: There is no run, or only those of a simulation could be tried.
        """
        comparison = _comparison(source)
        rows = findings(comparison)
        tried = tried_of(comparison, rows) if tries else None
        return cls(comparison.mptcp.tables, rows, tried, run=comparison.mptcp)

    @property
    def directory(self) -> Path | None:
        """Where the captures of a run lie."""
        return None if self.run is None else self.run.directory

    @cached_property
    def unanswered(self) -> str | None:
        """What captures cannot answer, where no finding says what limited the transfer.

        None where a path was full, and of a run, which has more than packets.
        """
        return None if self.run else unanswered(self.tables, self.rows)

    @cached_property
    def findings(self) -> pl.DataFrame:
        """One row per finding, as the table ``findings`` has them."""
        import polars as pl

        return pl.DataFrame(self.rows, schema=pl.DataFrame(self.tables.table("findings")).schema)

    @cached_property
    def tried(self) -> pl.DataFrame:
        """One row per remedy that was tried: its gain, and the claimed cost."""
        import polars as pl

        kinds: dict[str, Any] = dict.fromkeys(TEXTS, pl.String) | {"settings": pl.List(pl.String)}
        kinds["gained_is_minimum"] = pl.Boolean
        return pl.DataFrame(self.tried_rows or [], kinds | dict.fromkeys(NUMBERS, pl.Float64))

    def _repr_html_(self) -> str:
        return pages.html(self)

    def __repr__(self) -> str:
        where = "" if self.directory is None else f" of {self.directory}"
        return f"<mptcplab.Why{where}: {text.plural(len(self.rows), 'finding')}>"


def _comparison(source: str | PathLike[str] | Run | Comparison) -> Comparison:
    found = source if isinstance(source, (Run, Comparison)) else opened(source)
    if isinstance(found, Run):
        return Comparison(found.directory, found, {})
    if isinstance(found, list) and len(found) == 1:
        return found[0]
    if isinstance(found, list):
        one = found[0].directory
        raise Error(f"{source} holds several runs: name one of them, such as {one}")
    if isinstance(found, Campaign):
        raise Error(
            f"{source} is a campaign, whose page counts the findings of each configuration: name "
            'one of its runs, which it keeps with keep = "runs"'
        )
    if not isinstance(found, Comparison):
        raise Error(f"{source} holds no run; captures are named one by one")
    return found
