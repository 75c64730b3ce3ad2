"""Runs and campaigns in, figures for papers out."""

from __future__ import annotations

from pathlib import Path

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike
    from typing import Any, TypeAlias

    from mptcplab.analysis import Analysis
    from mptcplab.figures.paper import Paper
    from mptcplab.figures.registry import Kind
    from mptcplab.results.campaign import Campaign
    from mptcplab.results.comparison import Comparison

    Source: TypeAlias = str | PathLike[str] | Campaign | Comparison | Analysis


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
    _check_installed()
    from mptcplab.figures.choice import Choice
    from mptcplab.figures.draw import drawn
    from mptcplab.figures.paper import format_of
    from mptcplab.figures.registry import find

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
    _check_installed()
    from mptcplab.figures.registry import kinds

    return kinds()


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _check_installed() -> None:
    try:
        import matplotlib  # noqa: F401 - an optional extra
    except ModuleNotFoundError as error:
        raise Error(f"figures need {error.name}: pip install 'mptcplab[figures]'") from error


def _opened(source: Source) -> tuple[Any, str]:
    """Open what is drawn, and say whether it is a run or a campaign."""
    from mptcplab.analysis import Analysis
    from mptcplab.figures.registry import CAMPAIGN, RUN
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
