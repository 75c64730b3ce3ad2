"""Throughput over one path of a connection against that over another, moment by moment."""

from __future__ import annotations

import polars as pl

from mptcplab._core import Error
from mptcplab.figures.paper import COLOURS, NEUTRAL
from mptcplab.figures.registry import RUN, register
from mptcplab.report.subject import Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.figures.choice import Choice
    from mptcplab.figures.paper import Paper


@register("path-scatter", RUN, "connection")
def draw(paper: Paper, place: Any, choice: Choice) -> str:
    """Throughput over two paths against each other, bin by bin."""
    subject = Subject.of(place, choice.connection)
    paths = subject.table("subflows").select("subflow", "path").drop_nulls()
    pair = paths["path"].unique(maintain_order=True).to_list()
    if len(pair) != 2:
        raise Error(f"path-scatter is of two paths, and there {_are(pair)}")
    bins: pl.DataFrame = (
        subject.table("throughput")
        .join(paths, on="subflow")
        .pivot(on="path", index="at_s", values="throughput_mbps", aggregate_function="sum")
        .fill_null(0)
    )
    one, other = (
        bins[path].to_list() if path in bins.columns else [0.0] * bins.height for path in pair
    )
    more = sum(a > b for a, b in zip(one, other, strict=True))
    less = sum(a < b for a, b in zip(one, other, strict=True))
    axes = paper.subplots()
    axes.plot(one, other, "o", color=COLOURS[0], markersize=2, markeredgewidth=0, alpha=0.6)
    limit = 1.05 * max(*one, *other)
    axes.plot([0, limit], [0, limit], "--", color=NEUTRAL, linewidth=0.8)
    axes.set(xlim=(0, limit), ylim=(0, limit), aspect="equal")
    axes.set_xlabel(f"{pair[0]}: throughput (Mbit/s)")
    axes.set_ylabel(f"{pair[1]}: throughput (Mbit/s)")
    return (
        f"Throughput of a connection over {pair[0]} and over {pair[1]}, a point for each bin of "
        f"the table throughput; {pair[0]} has more in {more} of {bins.height}, {pair[1]} in {less}."
    )


def _are(paths: list[str]) -> str:
    return f"are {', '.join(paths)}" if paths else "is none"
