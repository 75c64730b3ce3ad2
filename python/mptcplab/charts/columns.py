"""Columns of frames as arrays, and as few of them as a page can hold."""

from __future__ import annotations

from array import array
from functools import cache
from typing import TypedDict

import polars as pl

from mptcplab import _core
from mptcplab.charts.shape import Definition
from mptcplab.labels.text import count

# Rows of one table that a page holds; its charts are a few hundred points wide.
MOST = 40_000


def numbers(values: pl.Series) -> array[float]:
    """Give a column as numbers; what is unknown is NaN."""
    return array("d", values.cast(pl.Float64).fill_null(float("nan")).to_list())


class Packets(TypedDict, total=False):
    """The references to packets that a series takes."""

    capture: array[int]
    record: array[int]


def packets(frame: pl.DataFrame, captures: list[str]) -> Packets:
    """Give those of a table's rows."""
    number = {name: index for index, name in enumerate(captures)}
    return Packets(
        capture=array("H", map(number.__getitem__, frame["capture"].to_list())),
        record=array("I", frame["record"].to_list()),
    )


def thin(
    frame: pl.DataFrame, value: str, keep: pl.Expr | None = None, most: int = MOST
) -> tuple[pl.DataFrame, str | None]:
    """Leave out rows of a table that has more than ``most``, and describe that.

    Each subflow keeps what ``keep`` asks for, and the smallest and the largest value of each of as
    many equal spans of time as fit.
    """
    if len(frame) <= most:
        return frame, None
    start, end = frame["at_s"].min(), frame["at_s"].max()
    spans = max(most // (2 * frame["subflow"].n_unique()), 1)
    span = ((pl.col("at_s") - start) / (end - start) * spans).floor().clip(0, spans - 1)  # type: ignore[operator]
    extremes = (
        frame.with_row_index("row")
        .with_columns(span=span)
        .group_by("subflow", "span")
        .agg(
            least=pl.col("row").get(pl.col(value).arg_min()),
            most=pl.col("row").get(pl.col(value).arg_max()),
        )
    )
    rows = pl.concat([extremes["least"], extremes["most"]]).drop_nulls()
    selected = pl.col("row").is_in(rows.implode())
    if keep is not None:
        selected |= keep
    thinned = frame.with_row_index("row").filter(selected).drop("row")
    milliseconds = 1000 * (end - start) / spans  # type: ignore[operator]
    note = (
        f"{count(len(thinned))} of {count(len(frame))} samples are drawn: the smallest and the "
        f"largest of every {milliseconds:.3g} ms of a subflow"
    )
    return thinned, note + (" and all that is marked" if keep is not None else "")


def definitions(table: str, *names: str) -> list[Definition]:
    """Say what columns of a table mean, as the reference does."""
    return [Definition(f"{table}.{name}", _described()[table, name][1]) for name in names]


def unit_of(table: str, column: str) -> str:
    """Give the unit of a column."""
    return _described()[table, column][0]


@cache
def _described() -> dict[tuple[str, str], tuple[str, str]]:
    return {
        (table, column): (unit, meaning)
        for table, _, columns in _core.columns()
        for column, _, _, unit, meaning in columns
    }
