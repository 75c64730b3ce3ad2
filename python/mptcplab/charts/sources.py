"""Opens what pages and figures are drawn of, and gives where a page is written by default."""

from __future__ import annotations

import os
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

Source: TypeAlias = str | PathLike[str] | Campaign | Comparison | Analysis


def several_of(
    source: Source | Sequence[Source],
) -> tuple[list[tuple[str, Comparison | Analysis]] | None, Path]:
    """Open what is drawn together, with names, and give where its page is written by default."""
    here = Path("runs.html")
    sources: list[object]
    read: list[object]
    if isinstance(source, (str, PathLike)):
        is_directory = os.path.isdir(source)  # noqa: PTH112 - also where its name is too long
        found = opened(source) if is_directory else None
        if not isinstance(found, list):
            return None, here
        sources, read = [source], [found]
        here = Path(source) / "report.html"
    elif isinstance(source, (list, tuple)):
        if not source:
            raise Error("there is no run to report of")
        sources = list(source)
        read = [
            opened(one, samples=True) if isinstance(one, (str, PathLike)) else one
            for one in sources
        ]
    else:
        return None, here
    return names(sources, read), here


def one_of(
    source: str | PathLike[str] | Comparison | Campaign | Analysis,
) -> tuple[Comparison | Campaign | Analysis, Path | None]:
    """Give what is drawn, and where its page is written by default."""
    found = opened(source) if isinstance(source, (str, PathLike)) else source
    if isinstance(found, (Comparison, Campaign)):
        return found, found.directory / "report.html"
    if isinstance(found, Run):
        return found, found.directory.with_name(f"{found.directory.resolve().name}.html")
    if isinstance(source, (str, PathLike)):
        raise Error(f"{source} is neither a run nor what mptcplab run leaves for one seed")
    return source, None


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
