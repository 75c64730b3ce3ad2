"""What runs that are laid over each other are on their page: names, colours and curves."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

import polars as pl

from mptcplab.analysis import Analysis
from mptcplab.charts.columns import definitions, numbers
from mptcplab.charts.run.subject import Row, Subject
from mptcplab.charts.run.throughput import bin_width, bins, steps
from mptcplab.charts.shape import Chart, Series
from mptcplab.labels import text
from mptcplab.results.comparison import Comparison
from mptcplab.results.run import Run

# Colours that can be distinguished.
MOST = 7
MB = 1e-6
# What moved less than this part of the most that a connection of the file moved is aside.
ASIDE = 0.01
SMOOTHED = " Smoothed: what the sender's state says where there are no samples."


@dataclass
class Overlaid:
    """A run with its name on the page."""

    name: str
    source: Comparison | Run | Analysis
    subject: Subject
    #: Where the time of all begins, if they are laid over each other by the clock.
    began_s: float | None = None

    @property
    def run(self) -> Run | None:
        """The run, where it is one and not just captures."""
        return self.subject.run

    @property
    def origin(self) -> str:
        """What runs are aligned by: programs do not all send at once."""
        if self.began_s is not None:
            return "first packet of all"
        has_timeline = self.run is not None and self.run.scenario.get("timeline")
        return "start of the timeline" if has_timeline else "first packet"

    @property
    def origin_s(self) -> float:
        """When that was."""
        if self.began_s is not None:
            return self.began_s
        if self.run is None or self.origin == "first packet":
            return self.subject.start_s
        return self.run.began_s

    @property
    def length_s(self) -> float:
        """How long it took from there."""
        return self.subject.end_s - self.origin_s


def each_of(name: str, source: Comparison | Run | Analysis) -> Iterator[Overlaid]:
    """Give a run once; of another tool's file, which has no run, each connection that matters."""
    analysis = source.mptcp if isinstance(source, Comparison) else source
    rows = analysis.connections
    from_tool = "source" in rows.columns and rows["source"].null_count() == 0
    if not from_tool or len(rows) <= 1:
        if len(rows):
            yield Overlaid(name, source, Subject.of(source))
        return
    subjects = [Subject.of(source, number) for number in rows["connection"]]
    most = max(one.transfer.get("bytes", 0) for one in subjects)
    for subject in subjects:
        if subject.transfer.get("bytes", 0) >= ASIDE * most:
            yield Overlaid(f"{name}, {_label(subject)}", source, subject)


def _label(subject: Subject) -> str:
    """Tell a connection from others of its file: by its path, or its client's port."""
    paths = [row["path"] for row in subject.subflows if row["path"]]
    if paths:
        return ", ".join(paths)
    port = subject.connection["client_port"]
    return f"connection {subject.connection['connection']}" if port is None else f"port {port}"


def aligned(overlaid: list[Overlaid]) -> list[Overlaid]:
    """Lay over each other by the clock what was measured at one time, files of tools among it."""
    rows = [one.subject.connection for one in overlaid]
    if any(one.run for one in overlaid) or all(row.get("source") is None for row in rows):
        return overlaid
    found = list(overlaid)
    for group in _at_one_time(rows):
        first_ns = rows[group[0]]["start_ns"]
        for number in group if len(group) > 1 else ():
            since_s = (rows[number]["start_ns"] - first_ns) / 1e9
            found[number] = replace(
                overlaid[number], began_s=overlaid[number].subject.start_s - since_s
            )
    return found


def _at_one_time(rows: list[Row]) -> Iterator[list[int]]:
    """Give the numbers of connections by times at which there always was one, the first first."""
    group: list[int] = []
    until_ns = 0.0
    for number in sorted(range(len(rows)), key=lambda number: rows[number]["start_ns"]):
        start_ns = rows[number]["start_ns"]
        if group and start_ns >= until_ns:
            yield group
            group = []
        group.append(number)
        until_ns = max(until_ns, start_ns + (rows[number]["duration_s"] or 0) * 1e9)
    yield group


def made(one: Overlaid) -> str:
    """Say where what is no run comes from."""
    tool = one.subject.connection.get("source")
    return f"from {text.clean(tool)}" if tool else "captured"


def charts(shown: list[Overlaid], of: int) -> Iterator[Chart]:
    """Describe the charts of those ``shown``, ``of`` how many."""
    widths = [bin_width(one.subject) for one in shown]
    # The same for all: of the table where one run has no shorter ones.
    width = None if None in widths else max(one for one in widths if one is not None)
    long = "of the table throughput" if width is None else f"of {text.seconds(width)}"
    thinned = f"the first {MOST} of {of} runs; the table has all" if of > MOST else None
    counted = [_whole(one, width) for one in shown]
    yield Chart(
        "Throughput",
        f"Bytes in order at the level of the connection per bin {long} / length of the bin.",
        definitions("throughput", "at_s", "bytes", "throughput_mbps"),
        series=[
            _series(one, number, *steps(own, one.length_s))
            for number, (one, own) in enumerate(zip(shown, counted, strict=True))
            if len(own)
        ],
        value="Mbit/s",
        thinned=thinned,
        id="throughput",
    )
    yield Chart(
        "Delivered data",
        f"Bytes that were in order at the level of the connection so far, by bins {long}: what is "
        "above was faster, and a curve that ends earlier was finished earlier.",
        definitions("throughput", "at_s", "bytes"),
        series=[
            _series(one, number, own_x, array("d", accumulate(own["bytes"] * MB)))
            for number, (one, own) in enumerate(zip(shown, counted, strict=True))
            if len(own_x := numbers(own["at_s"]))
        ],
        value="MB",
        thinned=thinned,
        id="delivered",
    )
    for table, column, title, what, instead in (
        ("rtt", "rtt_ms", "Round-trip time", "samples of all subflows", "srtt_ms"),
        ("reordering", "out_of_order_delay_ms", "Out-of-order delay", "segments that arrived", ""),
    ):
        yield Chart(
            title,
            f"Mean over the {what} in a bin of the same length as those of the throughput."
            + (SMOOTHED if instead else ""),
            definitions(table, column),
            series=[
                series
                for number, one in enumerate(shown)
                if (series := _sampled(one, number, (table, column, instead), width or 1.0))
            ],
            value="ms",
            thinned=thinned,
            id=table,
        )


def _sampled(
    one: Overlaid, number: int, columns: tuple[str, str, str], width: float
) -> Series | None:
    """Give the samples, where there are any; what the sender's state has instead says so."""
    table, column, instead = columns
    if len(one.subject.table(table)):
        return _series(one, number, *_means(one, one.subject.table(table), column, width))
    state = one.subject.table("state").filter(host=one.subject.sender)
    if not instead or one.run or not state[instead].count():
        return None
    series = _series(one, number, *_means(one, state.drop_nulls(instead), instead, width))
    return replace(series, name=f"{one.name} (smoothed)")


def _series(one: Overlaid, number: int, x: array[float], y: array[float]) -> Series:
    return Series(one.name, "step", x, y, subflow=number, look=number)


def _whole(one: Overlaid, width: float | None) -> pl.DataFrame:
    """Give the bins of the connection, from its beginning on."""
    own = bins(one.subject, width).filter(pl.col("subflow").is_null())
    return own.with_columns(at_s=pl.col("at_s") - one.origin_s)


def _means(
    one: Overlaid, rows: pl.DataFrame, column: str, width: float
) -> tuple[array[float], array[float]]:
    at = ((pl.col("at_s") - one.origin_s) / width).floor() * width
    found = rows.group_by(at_s=at).agg(pl.col(column).mean()).sort("at_s")
    return numbers(found["at_s"]), numbers(found[column])
