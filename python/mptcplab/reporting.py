"""Runs, campaigns and captures in, HTML pages out."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.analysis import Analysis
    from mptcplab.results.campaign import Campaign
    from mptcplab.results.comparison import Comparison


def write_report(
    source: str | PathLike[str] | Comparison | Campaign | Analysis,
    out: str | PathLike[str] | None = None,
    *,
    connection: int | None = None,
    run: str | None = None,
) -> Path:
    """Write the page of a run, with its baselines where they are there, of a campaign, or captures.

    Args:
        source: A directory that ``mptcplab run`` or ``mptcplab sweep`` left, or one of the run
            directories in it; or what ``mptcplab.run``, ``mptcplab.open_campaign`` or
            ``mptcplab.analyze`` gave.
        out: The file. If left out, ``report.html`` in the directory of a comparison or campaign,
            ``NAME.html`` beside that of a run, and ``reports/KEY.html`` in a campaign's for one of
            its runs.
        connection: Which connection; if left out the one that moved most bytes.
        run: Key of a run of the campaign: the page of this run. It is repeated for that, unless
            its directory was kept.

    Raises:
        Error: The directory holds no run, there is no such connection or run, or the page cannot
            be written; also where the file is there and is no page of mptcplab.
    """
    from mptcplab.report.html import refuse_foreign, write
    from mptcplab.results.campaign import Campaign

    opened, place = _open(source)
    if run is not None:
        if not isinstance(opened, Campaign):
            raise Error(f"{source} is no campaign: there is no run {run} to choose")
        from mptcplab.repeating import again
        from mptcplab.report.campaign.runs import PAGES

        place = opened.directory / PAGES / f"{run}.html"
        opened = again(opened, run)
    if out is None:
        if place is None:
            raise Error("what is measured in captures has no directory: say where (out)")
        out = place
    target = Path(out)
    refuse_foreign(target)
    if isinstance(opened, Campaign):
        if connection is not None:
            raise Error(f"{opened.directory} is a campaign: its page has no single connection")
        from mptcplab.report.campaign.page import describe as describe_campaign

        write(describe_campaign(opened), target)
    else:
        from mptcplab.report.run import describe
        from mptcplab.report.subject import Subject

        write(describe(Subject.of(opened, connection)), target)
    return target


def _open(
    source: str | PathLike[str] | Comparison | Campaign | Analysis,
) -> tuple[Comparison | Campaign | Analysis, Path | None]:
    """Give what is drawn, and where its page goes by itself."""
    from mptcplab.results.campaign import Campaign
    from mptcplab.results.comparison import Comparison
    from mptcplab.results.opening import opened
    from mptcplab.results.run import Run

    found = opened(source) if isinstance(source, (str, PathLike)) else source
    if isinstance(found, (Comparison, Campaign)):
        return found, found.directory / "report.html"
    if isinstance(found, Run):
        return found, found.directory.with_name(f"{found.directory.resolve().name}.html")
    if isinstance(source, (str, PathLike)):
        raise Error(f"{source} is neither a run nor what mptcplab run leaves for one seed")
    return source, None
