"""Bins of throughput: those of the tables, or shorter ones where the transfer is short."""

from __future__ import annotations

import polars as pl

from mptcplab.report.subject import Subject

# So many make a curve.
FEW = 20
WIDTHS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def bins(subject: Subject) -> tuple[pl.DataFrame, float | None]:
    """Give ``subflow``, ``at_s``, ``throughput_mbps``, and the bins' length where it is not theirs.

    Shorter bins are counted as the table's are: new bytes when they came, and for the connection as
    a whole when they were in order.
    """
    theirs = subject.table("throughput")
    arrived = subject.table("reordering")
    length = subject.data_end_s - subject.start_s
    if theirs["at_s"].n_unique() >= FEW or arrived.is_empty() or not length:
        return theirs, None
    width = max((width for width in WIDTHS_S if width <= length / FEW), default=WIDTHS_S[0])
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
        .filter(pl.col("throughput_mbps").is_finite()),
        width,
    )


def _range(last: int) -> pl.DataFrame:
    return pl.DataFrame({"bin": pl.int_range(last + 1, eager=True)})
