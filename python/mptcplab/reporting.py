"""Runs and captures in, an HTML page out."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.analysis import Analysis
    from mptcplab.results.comparison import Comparison


def write_report(
    source: str | PathLike[str] | Comparison | Analysis,
    out: str | PathLike[str] | None = None,
    *,
    connection: int | None = None,
) -> Path:
    """Write the page of a run, with its baselines where they are there, or of captures.

    Args:
        source: A directory that ``mptcplab run`` left, or one of the run directories in it; or
            what ``mptcplab.run`` or ``mptcplab.analyze`` gave.
        out: The file. If left out, ``report.html`` in the directory of a comparison, and
            ``NAME.html`` beside that of a run.
        connection: Which connection; if left out the one that moved most bytes.

    Raises:
        Error: The directory holds no run, there is no such connection, or the page cannot be
            written.
    """
    opened, place = _open(source)
    if out is None:
        if place is None:
            raise Error("what is measured in captures has no directory: say where (out)")
        out = place
    from mptcplab.report.html import write
    from mptcplab.report.run import describe
    from mptcplab.report.subject import Subject

    target = Path(out)
    write(describe(Subject.of(opened, connection)), target)
    return target


def _open(
    source: str | PathLike[str] | Comparison | Analysis,
) -> tuple[Comparison | Analysis, Path | None]:
    """Give what is drawn, and where its page goes by itself."""
    from mptcplab.results.comparison import Comparison
    from mptcplab.results.opening import opened
    from mptcplab.results.run import Run

    found = opened(source) if isinstance(source, (str, PathLike)) else source
    if isinstance(found, Comparison):
        return found, found.directory / "report.html"
    if isinstance(found, Run):
        return found, found.directory.with_name(f"{found.directory.resolve().name}.html")
    if isinstance(source, (str, PathLike)):
        raise Error(f"{source} is neither a run nor what mptcplab run leaves for one seed")
    return source, None
