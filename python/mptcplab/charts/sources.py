"""Opens what pages and figures are drawn of, and gives where a page is written by default."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from mptcplab._core import Error
from mptcplab.analysis import Analysis
from mptcplab.charts.paper import CAMPAIGN, RUN
from mptcplab.charts.several import names
from mptcplab.results.campaign import Campaign
from mptcplab.results.comparison import Comparison
from mptcplab.results.opening import opened
from mptcplab.results.run import Run
from mptcplab.writing import beside

Drawn: TypeAlias = Campaign | Comparison | Analysis
Named: TypeAlias = tuple[str, Comparison | Analysis]
Source: TypeAlias = str | PathLike[str] | Campaign | Comparison | Analysis


def drawn_of(
    source: Source | Sequence[Source],
    *,
    alone: bool = False,
    from_seconds: float = 0.0,
    to_seconds: float | None = None,
) -> tuple[Drawn | list[Named], Path | None]:
    """Open what is drawn, one thing or several with names, and give its page's place by default.

    Connections in files of other tools are several things, unless one of them is drawn ``alone``.
    """

    def read(one: Any) -> Any:
        if isinstance(one, (str, PathLike)):
            return opened(one, samples=True, from_seconds=from_seconds, to_seconds=to_seconds)
        if from_seconds or to_seconds is not None:
            raise Error("a part (from, to) is chosen of captures that are still to be read")
        return one

    if isinstance(source, (list, tuple)):
        if not source:
            raise Error("there is no run to report of")
        return names(source, [read(one) for one in source]), Path("runs.html")
    found = read(source)
    path = Path(source) if isinstance(source, (str, PathLike)) else None
    if isinstance(found, list):
        return names([source], [found]), found[0].directory.parent / "report.html"
    if isinstance(found, (Comparison, Campaign)):
        return found, found.directory / "report.html"
    if isinstance(found, Run):
        return found, beside(found.directory, ".html")
    page = None
    if path:
        page = path / "report.html" if path.is_dir() else path.with_suffix(".html")
    if isinstance(found, Analysis) and found.parts and not alone and len(found.connections) > 1:
        return list[Named](found.parts), page
    return found, page


def run_or_campaign(source: Source) -> tuple[Any, str]:
    """Open what is drawn, with whether it is a run or a campaign."""
    read = (
        source
        if isinstance(source, (Analysis, Campaign, Comparison))
        else opened(source, samples=True)
    )
    if isinstance(read, list):
        raise Error(f"{source} holds runs of several seeds: name the directory of one of them")
    return read, CAMPAIGN if isinstance(read, Campaign) else RUN
