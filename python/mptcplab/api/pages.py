"""Pages, figures and bundles of results."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from mptcplab._core import Error
from mptcplab.charts.paper import check_installed
from mptcplab.results import pages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from mptcplab.charts.paper.choice import Kind
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
) -> Path:
    """Write the page of a run, with its baselines where they are there, of a campaign, or captures.

    Args:
        source: A directory that ``mptcplab run`` or ``mptcplab sweep`` left, or one of the run
            directories in it; or what ``mptcplab.run``, ``mptcplab.open_campaign`` or
            ``mptcplab.analyze`` gave. Several of them, but for campaigns, are laid over each other,
            and so are the seeds of ``mptcplab run --repeat``.
        out: The file. If left out, ``report.html`` in the directory of a comparison or campaign or
            of repeated runs, ``NAME.html`` beside that of a run, ``reports/KEY.html`` in a
            campaign's for one of its runs, and ``runs.html`` here for several.
        connection: Which connection; if left out the one that moved most bytes.
        filter_by: Which connections are meant, such as ``"port=443,protocol=mptcp"``; of several
            the one that moved most bytes is drawn.
        run: Key of a run of the campaign: the page of this run. It is repeated for that, unless
            its directory was kept.

    Raises:
        Error: The directory holds no run, there is no such connection or run, or the page cannot
            be written; also where the file is there and is no page of mptcplab.
    """
    from mptcplab.charts.html import refuse_foreign, write
    from mptcplab.charts.sources import one_of, several_of
    from mptcplab.results.campaign import Campaign

    several, beside = several_of(source)
    if several is not None:
        if (run, connection, filter_by) != (None, None, None):
            raise Error("of several runs there is no single run or connection to choose")
        from mptcplab.charts.several import describe as describe_several

        target = Path(out) if out is not None else beside
        refuse_foreign(target)
        write(describe_several(several), target)
        return target
    opened, page = one_of(source)  # type: ignore[arg-type]
    if run is not None:
        if not isinstance(opened, Campaign):
            raise Error(f"{source} is no campaign: there is no run {run} to choose")
        from mptcplab.campaign.repeat import again
        from mptcplab.charts.campaign.page import PAGES

        page = opened.directory / PAGES / f"{run}.html"
        opened = again(opened, run)
    if out is None:
        if page is None:
            raise Error("what is measured in captures has no directory: say where (out)")
        out = page
    target = Path(out)
    refuse_foreign(target)
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


def write_issue(
    source: str | PathLike[str] | Run | Comparison, out: str | PathLike[str] | None = None
) -> Path:
    """Write a small bundle for kernel maintainers: scenario, anonymised headers, state.

    Args:
        source: A run, or what ``mptcplab run`` left: then its run with MPTCP.
        out: The file, a zip. If left out, ``NAME-issue.zip`` beside the directory of the run.

    Raises:
        Error: It is no run, it has no captures, or the file cannot be written.
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
        kind: What is drawn; ``mptcplab figure --list`` says what there is.
        source: A run directory, what ``mptcplab run`` left, a campaign's directory, a capture, or a
            directory of captures that are taken as one; or what ``mptcplab.run``, ``sweep`` or
            ``analyze`` gave.
        out: A file that ends in ``.pdf``, ``.svg`` or ``.png``. If left out, nothing is written.
        size: Width and height in inches.
        title: Stands above; papers have captions instead.
        by: Axes of the campaign to split by: the first along the figure, others side by side.
        where: Values of axes; runs with others are left out.
        value: The figure of runs that is drawn, a column of ``Campaign.runs``.
        paths: What is drawn: ``"mptcp"``, and names of paths for plain TCP over them.
        connection: Which connection of captures; if left out the one that moved most bytes.

    Returns:
        A figure of matplotlib, with ``caption``: what is drawn, and how it was computed.

    Raises:
        Error: There is no such kind, the source has nothing for it, or it cannot be written.
    """
    check_installed()
    from mptcplab.charts.paper.choice import Choice
    from mptcplab.charts.paper.kinds import drawn, find
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
    made = drawn(find(kind, of), drawn_from, chosen, size=size, title=title)
    if out is not None:
        made.save(out)
    return made


def figure_kinds() -> list[Kind]:
    """List the kinds of figures."""
    check_installed()
    from mptcplab.charts.paper.kinds import kinds

    return kinds()


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _html(source: Any) -> str:
    from mptcplab.charts.notebook import of

    return of(source)


pages.write, pages.draw, pages.html = write_report, figure, _html
