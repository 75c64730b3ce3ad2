"""What is seen of it: comparisons, pages, figures."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from mptcplab._core import Error
from mptcplab.charts.paper import check_installed
from mptcplab.results import pages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeAlias

    from mptcplab.analysis import Analysis
    from mptcplab.charts.paper.choice import Kind
    from mptcplab.charts.paper.paper import Paper
    from mptcplab.results.campaign import Campaign
    from mptcplab.results.comparison import Comparison
    from mptcplab.results.differences.differences import Comparable, Differences

    Source: TypeAlias = str | PathLike[str] | Campaign | Comparison | Analysis


def compare(
    a: Comparable,
    b: Comparable,
    *,
    level: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> Differences:
    """Compare two runs, two scenarios run under several seeds, campaigns, or captures.

    Args:
        a: A run directory; a directory that ``mptcplab run`` made, also with ``--repeat``; a
            campaign's directory; a capture, or a directory whose captures are taken as one. Or
            what ``mptcplab.run``, ``sweep`` or ``analyze`` gave, or a list of the first.
        b: What it is compared with, of the same kind; runs and captures may be mixed.
        level: Of the confidence intervals.
        progress: Told how many figures over several seeds are compared, and of how many.

    Raises:
        Error: There is no such thing, it cannot be read, or the two cannot be compared.
    """
    from mptcplab.results.differences.differences import Differences, Side

    return Differences(Side.of(a), Side.of(b), level=level, progress=progress)


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
    from mptcplab.charts.html import refuse_foreign, write
    from mptcplab.results.campaign import Campaign

    opened, place = _open(source)
    if run is not None:
        if not isinstance(opened, Campaign):
            raise Error(f"{source} is no campaign: there is no run {run} to choose")
        from mptcplab.campaign.repeat import again
        from mptcplab.charts.campaign.page import PAGES

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
        from mptcplab.charts.campaign.page import describe as describe_campaign

        write(describe_campaign(opened), target)
    else:
        from mptcplab.charts.run.page import describe
        from mptcplab.charts.run.subject import Subject

        write(describe(Subject.of(opened, connection)), target)
    return target


# What ``Comparison.report`` and ``Campaign.report`` call.
pages.write = write_report


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

    if out is not None:
        format_of(Path(out))
    place, of = _opened(source)
    chosen = Choice(
        _listed(by),
        {axis: str(one) for axis, one in (where or {}).items()},
        value,
        _listed(paths),
        connection,
    )
    made = drawn(find(kind, of), place, chosen, size=size, title=title)
    if out is not None:
        made.save(out)
    return made


def figure_kinds() -> list[Kind]:
    """List the kinds of figures."""
    check_installed()
    from mptcplab.charts.paper.kinds import kinds

    return kinds()


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


def _opened(source: Source) -> tuple[Any, str]:
    """Open what is drawn, and say whether it is a run or a campaign."""
    from mptcplab.analysis import Analysis
    from mptcplab.charts.paper.choice import CAMPAIGN, RUN
    from mptcplab.results.campaign import Campaign
    from mptcplab.results.comparison import Comparison
    from mptcplab.results.opening import opened

    place = (
        source
        if isinstance(source, (Analysis, Campaign, Comparison))
        else opened(source, samples=True)
    )
    if isinstance(place, list):
        raise Error(f"{source} holds runs of several seeds: name the directory of one of them")
    return place, CAMPAIGN if isinstance(place, Campaign) else RUN


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
