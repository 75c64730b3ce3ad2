"""Captures in, polars frames out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from os import PathLike, fspath
from typing import Any, Protocol

from mptcplab import _core, pages

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from mptcplab.charts.paper.paper import Paper

Path = str | PathLike[str]


class Measured(Protocol):
    """Tables, just measured or from the disk."""

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""

    def table(self, name: str) -> _core.Table | pl.DataFrame:
        """Give a table."""

    def rows(
        self, name: str, *, connection: int | None = None, columns: Iterable[str] | None = None
    ) -> Iterator[dict[str, Any]]:
        """Give the rows of a table, of one connection and some columns if asked for."""

    def json(self) -> str:
        """Give the summary tables as one document."""


def measure(paths: Path | Iterable[Path], **settings: Any) -> _core.Tables:
    """Measure what is in captures; ``settings`` are those of ``_core.analyze``."""
    captures = names(paths)
    return _core.analyze(captures, one_clock=have_one_clock(captures), **settings)


def have_one_clock(captures: list[str]) -> bool:
    """Say whether captures were all taken in one run of mptcplab: its ends have one clock.

    But not between real hosts, each of which has its own.
    """
    import json
    from pathlib import Path

    # Where one may not look, or links go round in a circle, reading them says so.
    with suppress(OSError, ValueError, RuntimeError):
        homes = {Path(capture).resolve().parent for capture in captures}
        if len(homes) == 1 and "-" not in captures:
            return "field" not in json.loads((homes.pop() / "run.json").read_text("utf-8"))
    return False


def names(paths: Path | Iterable[Path]) -> list[str]:
    """Give the names of files.

    Raises:
        Error: One is empty.
        TypeError: They are neither a path nor an iterable of paths.
    """
    if isinstance(paths, (str, PathLike)):
        paths = [paths]
    wanted = "paths must be a path (str or os.PathLike) or an iterable of paths"
    if isinstance(paths, (bytes, bytearray)) or not hasattr(paths, "__iter__"):
        raise TypeError(f"{wanted}, not {type(paths).__name__}")
    found = []
    for path in paths:
        name = fspath(path) if isinstance(path, (str, PathLike)) else None
        if not isinstance(name, str):
            raise TypeError(f"{wanted}; one of them is {type(path).__name__}")
        if not name:
            raise _core.Error("the name of a file is empty")
        found.append(name)
    return found


class Analysis:
    """The tables of an analysis, each made when it is first looked at."""

    def __init__(self, tables: Measured) -> None:
        self._tables = tables

    @property
    def complete(self) -> bool:
        """Whether every capture was read to its end."""
        return self._tables.complete

    def json(self) -> str:
        """Give the summary tables as one JSON document, as ``mptcplab analyze --json`` does."""
        return self._tables.json()

    @cached_property
    def parts(self) -> list[tuple[str, Analysis]]:
        """Captures, as one, and each file of another tool, by name; none of captures alone."""
        return [(name, Analysis(part)) for name, part in getattr(self._tables, "parts", [])]

    @cached_property
    def connections(self) -> pl.DataFrame:
        """One row per connection."""
        return self._frame("connections")

    @cached_property
    def transfers(self) -> pl.DataFrame:
        """One row per connection and direction."""
        return self._frame("transfers")

    @cached_property
    def subflows(self) -> pl.DataFrame:
        """One row per subflow."""
        return self._frame("subflows")

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per subflow and direction."""
        return self._frame("flows")

    @cached_property
    def throughput(self) -> pl.DataFrame:
        """One row per bin, direction and subflow, and for the connection as a whole."""
        return self._frame("throughput")

    @cached_property
    def distributions(self) -> pl.DataFrame:
        """One row per bin of the distributions of round-trip times and out-of-order delays."""
        return self._frame("distributions")

    @cached_property
    def segments(self) -> pl.DataFrame:
        """One row per packet with data."""
        return self._frame("segments")

    @cached_property
    def rtt(self) -> pl.DataFrame:
        """One row per round-trip time sample."""
        return self._frame("rtt")

    @cached_property
    def reordering(self) -> pl.DataFrame:
        """One row per data segment that arrived."""
        return self._frame("reordering")

    @cached_property
    def responses(self) -> pl.DataFrame:
        """One row per request that was answered."""
        return self._frame("responses")

    @cached_property
    def window(self) -> pl.DataFrame:
        """One row per change of the data in flight or of the window."""
        return self._frame("window")

    @cached_property
    def state(self) -> pl.DataFrame:
        """One row per sample of a sender's state; runs fill it."""
        return self._frame("state")

    @cached_property
    def queues(self) -> pl.DataFrame:
        """One row per sample of a queue on a link; simulations fill it."""
        return self._frame("queues")

    @cached_property
    def drops(self) -> pl.DataFrame:
        """One row per packet that did not arrive; simulations fill it."""
        return self._frame("drops")

    @cached_property
    def events(self) -> pl.DataFrame:
        """One row per event."""
        return self._frame("events")

    @cached_property
    def findings(self) -> pl.DataFrame:
        """One row per finding, with what went wrong, why, and what it cost."""
        return self._frame("findings")

    @cached_property
    def signals(self) -> pl.DataFrame:
        """One row per event that a kernel reported to path managers, in runs with the kernel."""
        return self._frame("signals")

    @cached_property
    def counters(self) -> pl.DataFrame:
        """One row per host and counter of its kernel; runs with the kernel fill it."""
        return self._frame("counters")

    @cached_property
    def probes(self) -> pl.DataFrame:
        """One row per probe of a path; ``mptcplab probe`` fills it."""
        return self._frame("probes")

    @cached_property
    def radio(self) -> pl.DataFrame:
        """One row per sample of a path's radio; field runs and ``mptcplab annotate`` fill it."""
        return self._frame("radio")

    @cached_property
    def positions(self) -> pl.DataFrame:
        """One row per position of the client; field runs and ``mptcplab annotate`` fill it."""
        return self._frame("positions")

    @cached_property
    def diagnostics(self) -> pl.DataFrame:
        """One row per remark that limits trust in the numbers."""
        return self._frame("diagnostics")

    def _frame(self, name: str) -> pl.DataFrame:
        import polars as pl

        return pl.DataFrame(self._tables.table(name))

    def plot(self, kind: str = "throughput", **choices: Any) -> Paper:
        """Draw a figure, ``throughput`` unless asked for another, as ``mptcplab.figure`` does."""
        return pages.draw(kind, self, **choices)

    def _repr_html_(self) -> str:
        return pages.html(self)

    def __repr__(self) -> str:
        count = len(self._tables.table("connections"))
        return f"<mptcplab.Analysis of {count} connection{'s' * (count != 1)}>"
