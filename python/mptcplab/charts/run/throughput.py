"""Throughput of the connection and of each subflow."""

from __future__ import annotations

from array import array

import polars as pl

from mptcplab.charts.columns import definitions, numbers
from mptcplab.charts.run.events import finding_lanes, lanes
from mptcplab.charts.run.subject import Subject
from mptcplab.charts.shape import Chart, Level, Role, Series
from mptcplab.labels import text
from mptcplab.labels.connections import single
from mptcplab.results.labels import label

# What is said of the chart where these are drawn.
TOTAL = (
    "The total counts bytes once they are in order at the level of the connection, subflows count "
    "theirs when they arrive, so the total may fall behind and catch up. "
)
DOTTED = (
    "The dotted line is the throughput of plain TCP over the best single path, under the same "
    "conditions. "
)


def chart(subject: Subject) -> Chart | None:
    """Throughput of the connection and of each subflow over time, with packets sent again."""
    width = bin_width(subject)
    found = bins(subject, width)
    if found.is_empty():
        return None
    end = subject.end_s
    series = []
    if len(subject.subflows) > 1:
        whole = found.filter(pl.col("subflow").is_null())
        series.append(Series("total", "step", *steps(whole, end), role="total"))
    for number, name in subject.names.items():
        own = found.filter(subflow=number)
        if own["bytes"].sum():
            series.append(Series(name, "step", *steps(own, end), subflow=number))
    levels = _best(subject)
    return Chart(
        "Throughput",
        f"New bytes per bin{_shorter(width)}, divided by the bin's length, drawn as a step from "
        f"the bin's start to its end. {TOTAL if len(subject.subflows) > 1 else ''}"
        f"{DOTTED if levels else ''}Marks below show packets sent again on their subflow, data "
        "sent again on another one, and findings over their span. A span that is a part of the "
        "time is shaded.",
        definitions("throughput", "at_s", "bytes", "throughput_mbps")
        + definitions("events", "event", "record"),
        series=series,
        value="Mbit/s",
        levels=levels,
        lanes=[*lanes(subject), *finding_lanes(subject)],
    )


def beside(subject: Subject) -> Chart | None:
    """Throughput of MPTCP over time beside that of plain TCP over each path."""
    comparison = subject.comparison
    if comparison is None or not comparison.baselines:
        return None
    width = bin_width(subject)
    series = [_whole(subject, label(comparison.mptcp), width, "total", None)]
    paths = list(subject.scenario["path"])
    for path, run in comparison.baselines.items():
        if len(run.connections):
            look = paths.index(path)
            series.append(_whole(Subject.of(run), label(run), width, "baseline", look))
    drawn = [one for one in series if one is not None]
    if len(drawn) < 2:
        return None
    own, alone = label(comparison.mptcp), single(comparison.mptcp.about.get("protocol", "tcp"))
    return Chart(
        f"Throughput beside {alone}",
        f"Bytes in order at the level of the connection per bin{_shorter(width)}, divided "
        f"by the bin's length, for the run with {own} and those with {alone} over each path, "
        f"under the same conditions and each from its own beginning. The axis ends with {own}'s "
        f"transfer: the page of a run with {alone} shows the rest of it.",
        definitions("throughput", "at_s", "bytes", "throughput_mbps"),
        series=drawn,
        value="Mbit/s",
    )


def _whole(
    subject: Subject, name: str, width: float | None, role: Role, look: int | None
) -> Series | None:
    found = bins(subject, width).filter(pl.col("subflow").is_null())
    if found.is_empty():
        return None
    return Series(name, "step", *steps(found, subject.end_s), role=role, look=look)


def _shorter(width: float | None) -> str:
    if width is None:
        return ""
    return f" (here {text.seconds(width)} long, counted from the table reordering)"


def steps(found: pl.DataFrame, end: float) -> tuple[array[float], array[float]]:
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


# The fewest bins that make a curve.
FEW = 20
WIDTHS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def bin_width(subject: Subject) -> float | None:
    """Give the length of bins in seconds; none where those of the table are short enough."""
    length = subject.data_end_s - subject.start_s
    enough = subject.table("throughput")["at_s"].n_unique() >= FEW
    if enough or subject.table("reordering").is_empty() or not length:
        return None
    return max((width for width in WIDTHS_S if width <= length / FEW), default=WIDTHS_S[0])


def bins(subject: Subject, width: float | None) -> pl.DataFrame:
    """Give ``subflow``, ``at_s``, ``bytes``, ``throughput_mbps`` in bins of some length.

    They are counted as the table's are, which are taken where there is no width: new bytes when
    they came, and for the connection as a whole when they were in order.
    """
    arrived = subject.table("reordering")
    length = subject.data_end_s - subject.start_s
    if width is None or arrived.is_empty():
        return subject.table("throughput")
    in_order = arrived.with_columns(
        subflow=pl.lit(None, pl.UInt32),
        at_s=pl.col("at_s") + pl.col("out_of_order_delay_ms") / 1000,
    )
    columns = ["subflow", "at_s", "bytes"]
    everything = pl.concat([in_order.select(columns), arrived.select(columns)])
    last = int(length / width)
    counted = everything.group_by(
        "subflow",
        bin=((pl.col("at_s") - subject.start_s) / width).floor().clip(0, last).cast(pl.Int64),
    ).agg(pl.col("bytes").sum())
    every = counted.select("subflow").unique().join(_range(last), how="cross")
    long = pl.when(pl.col("bin") == last).then(length - last * width).otherwise(width)
    return (
        every.join(counted, on=["subflow", "bin"], how="left", nulls_equal=True)
        .sort("subflow", "bin")
        .select(
            "subflow",
            pl.col("bytes").fill_null(0),
            at_s=subject.start_s + pl.col("bin") * width,
            throughput_mbps=pl.col("bytes").fill_null(0) * 8 / 1e6 / long,
        )
        .filter(pl.col("throughput_mbps").is_finite())
    )


def _range(last: int) -> pl.DataFrame:
    return pl.DataFrame({"bin": pl.int_range(last + 1, eager=True)})
