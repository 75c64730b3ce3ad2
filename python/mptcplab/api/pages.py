"""Pages, figures and bundles of results."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from mptcplab import pages
from mptcplab._core import Error
from mptcplab.charts.paper import check_installed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from mptcplab.charts.paper.paper import Paper
    from mptcplab.charts.sources import Source
    from mptcplab.results.comparison import Comparison
    from mptcplab.results.run import Run


def write_report(
    source: Source | Sequence[Source],
    out: str | PathLike[str] | None = None,
    *,
    connection: int | None = None,
    run: str | None = None,
    filter_by: str | None = None,
    from_seconds: float = 0.0,
    to_seconds: float | None = None,
) -> Path:
    """Write the page of a run with its baselines, of a campaign, or of captures.

    Args:
        source: A directory of ``mptcplab run`` or ``mptcplab sweep``, or a run directory in it; or
            the result of ``mptcplab.run``, ``mptcplab.open_campaign`` or ``mptcplab.analyze``; or
            a capture or a file of another tool, or a directory of such files.
            Several sources, except campaigns, are overlaid, as are the seeds of ``mptcplab run
            --repeat``, and captures and files of other tools in one directory.
        out: The file. If left out, ``report.html`` in the directory of a comparison or campaign or
            of repeated runs, ``NAME.html`` beside that of a run, ``reports/KEY.html`` in a
            campaign's for one of its runs, and ``runs.html`` here for several.
        connection: Number of the connection. If left out, the one with most bytes.
        filter_by: Only connections that match this filter, such as ``"port=443,protocol=mptcp"``.
            The one with most bytes is drawn.
        from_seconds: Start of what is drawn of captures, from their first packet.
        to_seconds: End of what is drawn of captures, from that packet; ``None``: their end.
        run: Key of a run of the campaign whose page is written. The run is repeated for this,
            unless its directory was kept.

    Raises:
        Error: The directory has no run, there is no such connection or run, or the page cannot be
            written, for example because the file exists and is not a page of mptcplab.
    """
    from mptcplab.charts.html import write
    from mptcplab.charts.sources import drawn_of
    from mptcplab.results.campaign import Campaign

    opened, page = drawn_of(
        source,
        alone=(connection, filter_by) != (None, None),
        from_seconds=from_seconds,
        to_seconds=to_seconds,
    )
    if isinstance(opened, list):
        if (run, connection, filter_by) != (None, None, None):
            raise Error(
                "run, connection and filter choose in one source, and several are laid over each "
                "other; captures of both ends as one: mptcplab analyze CAPTURES --report FILE"
            )
        from mptcplab.charts.several import describe as describe_several

        target = _target(out, page)
        write(describe_several(opened), target)
        return target
    if run is not None:
        if not isinstance(opened, Campaign):
            raise Error(f"{source} is no campaign: there is no run {run} to choose")
        from mptcplab.campaign.repeat import again
        from mptcplab.charts.campaign.page import PAGES

        page = opened.directory / PAGES / f"{run}.html"
        opened = again(opened, run)
    target = _target(out, page)
    if isinstance(opened, Campaign):
        if (connection, filter_by) != (None, None):
            raise Error(f"{opened.directory} is a campaign: its page has no single connection")
        from mptcplab.charts.campaign.page import describe as describe_campaign

        write(describe_campaign(opened), target)
    else:
        from mptcplab.charts.run.page import describe
        from mptcplab.charts.run.subject import Subject

        write(describe(Subject.of(opened, connection, filter_by)), target)
    return target


def _target(out: str | PathLike[str] | None, page: Path | None) -> Path:
    """Give where a page goes, unless what is there is not to be lost."""
    from mptcplab.charts.html import refuse_foreign

    target = page if out is None else Path(out)
    if target is None:
        raise Error("what is measured in captures has no directory: say where (out)")
    refuse_foreign(target)
    return target


def write_issue(
    source: str | PathLike[str] | Run | Comparison, out: str | PathLike[str] | None = None
) -> Path:
    """Write a small bundle for kernel maintainers: scenario, anonymised headers, state.

    Args:
        source: A run, or a directory of ``mptcplab run``, of which the run with MPTCP is used.
        out: The zip file. If left out, ``NAME-issue.zip`` beside the directory of the run.

    Raises:
        Error: It is not a run, it has no captures, or the file cannot be written.
    """
    from mptcplab.artifact.issue import bundle

    return bundle(source, None if out is None else Path(out))


def figure(
    kind: str,
    source: Source,
    out: str | PathLike[str] | None = None,
    *,
    size: tuple[float, float] | None = None,
    title: str | None = None,
    by: str | Sequence[str] = (),
    where: Mapping[str, object] | None = None,
    value: str | None = None,
    paths: str | Sequence[str] = (),
    connection: int | None = None,
) -> Paper:
    """Draw a static figure of a run, of captures, or of a campaign.

    Args:
        kind: Kind of figure; ``mptcplab figure --list`` lists them.
        source: A run directory, a directory of ``mptcplab run``, a campaign's directory, a capture,
            or a directory of captures, which are taken as one; or the result of ``mptcplab.run``,
            ``sweep`` or ``analyze``.
        out: A file name that ends in ``.pdf``, ``.svg`` or ``.png``. If left out, nothing is
            written.
        size: Width and height in inches.
        title: Title above the figure; papers have captions instead.
        by: Axes of the campaign to split by: the first along the figure, others side by side.
        where: Values of axes. Runs with other values are left out.
        value: The metric that is drawn, a column of ``Campaign.runs``.
        paths: What to draw: ``"mptcp"``, and names of paths for plain TCP over them.
        connection: Number of a connection in captures. If left out, the one with most bytes.

    Returns:
        A matplotlib figure with ``caption``, which says what is drawn and how it was computed.

    Raises:
        Error: There is no such kind, the source has no data for it, or the figure cannot be
            written.
    """
    check_installed()
    from mptcplab.charts.paper.choice import Choice
    from mptcplab.charts.paper.drawing import drawn
    from mptcplab.charts.paper.kinds import find
    from mptcplab.charts.paper.paper import format_of
    from mptcplab.charts.sources import run_or_campaign

    if out is not None:
        format_of(Path(out))
    drawn_from, of = run_or_campaign(source)
    chosen = Choice(
        _listed(by),
        {axis: str(one) for axis, one in (where or {}).items()},
        value,
        _listed(paths),
        connection,
    )
    page_figure = drawn(find(kind, of), drawn_from, chosen, size=size, title=title)
    if out is not None:
        page_figure.save(out)
    return page_figure


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _html(source: Any) -> str:
    from mptcplab.charts.notebook import of

    return of(source)


pages.write, pages.draw, pages.html = write_report, figure, _html
