"""Throughput of the connection and of each subflow."""

from __future__ import annotations

from array import array

import polars as pl

from mptcplab.labels import text
from mptcplab.report.charts.bins import bins
from mptcplab.report.charts.marks import lanes
from mptcplab.report.columns import definitions, numbers
from mptcplab.report.shape import Chart, Level, Series
from mptcplab.report.subject import Subject
from mptcplab.results.labels import label


def chart(subject: Subject) -> Chart | None:
    """Throughput of the connection and of each subflow over time, with packets sent again."""
    found, width = bins(subject)
    if found.is_empty():
        return None
    end = subject.end_s
    series = []
    if len(subject.subflows) > 1:
        whole = found.filter(pl.col("subflow").is_null())
        series.append(Series("total", "step", *_steps(whole, end), role="total"))
    for number, name in subject.names.items():
        own = found.filter(subflow=number)
        if own["bytes"].sum():
            series.append(Series(name, "step", *_steps(own, end), subflow=number))
    return Chart(
        "Throughput",
        f"New bytes per bin{_shorter(width)} / length of the bin, drawn as a step from the bin's "
        "start to its end. The total counts bytes when they were in order at the level of the "
        "connection, subflows count theirs when they came: so the total may fall behind and catch "
        "up. The dotted line is the throughput of plain TCP over the best single path, under the "
        "same conditions. Marks below: packets sent again on their subflow, and data sent again "
        "on another one.",
        definitions("throughput", "at_s", "bytes", "throughput_mbps")
        + definitions("events", "event", "record"),
        series=series,
        value="Mbit/s",
        levels=_best(subject),
        lanes=lanes(subject),
    )


def _shorter(width: float | None) -> str:
    if width is None:
        return ""
    return f" (here {text.seconds(width)} long, counted from the table reordering)"


def _steps(found: pl.DataFrame, end: float) -> tuple[array[float], array[float]]:
    """Each bin holds until the next one; the last is as long as its bytes and its rate say."""
    x, y = numbers(found["at_s"]), numbers(found["throughput_mbps"])
    last = x[-1] + found["bytes"][-1] * 8e-6 / y[-1] if y[-1] else x[-1]
    x.extend((last, max(last, end)))
    y.extend((0.0, 0.0))
    return x, y


def _best(subject: Subject) -> list[Level]:
    comparison = subject.comparison
    if comparison is None or comparison.best_path is None:
        return []
    best = comparison.baselines[comparison.best_path]
    value = best.throughput_mbps
    return [] if value is None else [Level(f"{label(best)}: {text.rate(value)}", value)]
