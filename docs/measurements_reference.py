"""The reference page of the papers' numbers, from ``measurements.toml``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from mptcplab import measurements
from mptcplab.measurements import Figure, Mobile, Multipath, Paper, SinglePath

HEAD = """\
# The papers' measurements

The numbers printed in five papers, from `measurements.toml` in `mptcplab.measurements`: Mbit/s, milliseconds and percent, as *mean (standard deviation)*;
`±` is a standard error. `mptcplab.measurements.load()` gives the same rows in Python, by their ids. Links are calibrated only to
rows of single paths. Rows of several paths are only used for comparison, in [the study](../study.md).
"""
SINGLE = ("throughput", "rtt", "loss", "handshake_rtt", "throughput_cv")


def page() -> str:
    """Write the page."""
    data = measurements.load()
    lines = [HEAD, "## Papers", ""]
    for paper in data.papers.values():
        lines += [*_paper(paper, data.spread.get(paper.id)), ""]
    lines += ["## Single paths", "", *_single_paths(data.single_path.values()), ""]
    lines += ["## Several paths", "", *_multipath(data.multipath.values()), ""]
    lines += ["### Their subflows", "", *_subflows(data.multipath.values()), ""]
    lines += ["## On the move", "", *_mobile(data.mobile.values()), ""]
    lines += ["## What is not one number", "", "| what | printed |", "|---|---|"]
    for name, finding in data.findings.items():
        lines += [f"| {name.replace('_', ' ')} | {_text(finding)} |"]
    return "\n".join([*lines, ""])


def _paper(paper: Paper, spread: str | None) -> Iterator[str]:
    yield f"`{paper.id}`"
    yield f": *{paper.title}*: {paper.source}."
    if spread is not None:
        yield f"  Standard deviations are over: {spread}."
    for key, value in paper.setup.items():
        yield f"  {key.replace('_', ' ').capitalize()}: {_text(value)}."
    for one in paper.inconsistent:
        yield f"  It contradicts itself: {one}."


def _single_paths(rows: Iterable[SinglePath]) -> Iterator[str]:
    yield "| id | direction | size | Mbit/s | RTT ms | loss % | handshake RTT ms | CV | further |"
    yield "|---" * 9 + "|"
    for row in rows:
        figures = [_figure(getattr(row, name)) for name in SINGLE]
        if row.sizes:
            figures[1], figures[2] = map(_by_size, (row.rtt_by_size, row.loss_by_size))
        size = ", ".join(row.sizes) or row.size or row.duration or ""
        further = {
            "receive window": row.receive_window,
            "MSS": row.max_uplink_mss,
            "radio": row.radio,
            "note": row.note,
        }
        cells = [
            f"`{row.id}`",
            row.direction,
            size,
            *figures,
            _text({name: one for name, one in further.items() if one}),
        ]
        yield _line(cells)


def _multipath(rows: Iterable[Multipath]) -> Iterator[str]:
    yield "| id | direction | size | subflows per path | Mbit/s | best alone | gain % | further |"
    yield "|---" * 8 + "|"
    for row in rows:
        alone = row.best_single_path or row.baseline
        further = {
            name: value
            for name in (
                "rtt",
                "rtt_reduction_percent",
                "wifi_rtt",
                "share_above_diagonal_percent",
                "share_below_diagonal_percent",
                "wimax",
                "carrier_aggregates",
                "disconnect",
            )
            if (value := getattr(row, name))
        }
        yield _line(
            [
                f"`{row.id}`",
                row.direction,
                row.size or row.duration or "",
                row.subflows_per_path,
                row.aggregate,
                alone and f"{alone.throughput} ({alone.path})",
                row.gain_percent,
                _text(further),
            ]
        )


def _subflows(rows: Iterable[Multipath]) -> Iterator[str]:
    yield "| id | subflow | Mbit/s | RTT ms | loss % | handshake RTT ms |"
    yield "|---" * 6 + "|"
    for row in rows:
        for name, one in row.subflows.items():
            figures = [one.throughput, one.rtt, one.loss, one.handshake_rtt]
            yield _line([f"`{row.id}`", name, *map(_figure, figures)])


def _mobile(rows: Iterable[Mobile]) -> Iterator[str]:
    yield "| id | figures | direction | from s | to s | what | Mbit/s | best alone |"
    yield "|---" * 8 + "|"
    for row in rows:
        head = [f"`{row.id}`", ", ".join(row.figures), row.direction]
        yield _line([*head, "", "", row.note or "", row.aggregate, _text(row.best_single_path)])
        for phase in row.phases:
            end = "" if phase.end_s == float("inf") else f"{phase.end_s:g}"
            figures = [phase.throughput, phase.best_single_path]
            yield _line([*head, f"{phase.start_s:g}", end, phase.what, *figures])


def _figure(one: Figure | None) -> str:
    if one is None:
        return ""
    mean = f"< {one.mean:g}" if one.below else f"{one.mean:g}"
    return (
        mean
        + (f" ({one.sd:g})" if one.sd is not None else "")
        + (f" ± {one.se:g}" if one.se is not None else "")
    )


def _by_size(figures: Iterable[Figure]) -> str:
    return ", ".join(map(_figure, figures))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key.replace('_', ' ')} {_text(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return str(value)


def _line(cells: Iterable[Any]) -> str:
    texts = ("" if cell is None else str(cell).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(texts)} |"
