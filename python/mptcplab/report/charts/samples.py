"""Charts of samples: a point each, or a line through them, per subflow."""

from __future__ import annotations

import polars as pl

from mptcplab.report.columns import numbers, packets
from mptcplab.report.shape import Series
from mptcplab.report.subject import Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal


def by_subflow(
    subject: Subject,
    frame: pl.DataFrame,
    column: str,
    kind: Literal["line", "step", "points"],
    *,
    scale: float = 1.0,
    role: Literal["data", "limit", "retransmission", "reinjection"] = "data",
    remark: str = "",
) -> list[Series]:
    """Give a series for each subflow that has any."""
    series = []
    for number, name in subject.names.items():
        own = frame.filter(subflow=number).drop_nulls(column)
        if own.is_empty():
            continue
        series.append(
            Series(
                f"{name} {remark}".strip(),
                kind,
                numbers(own["at_s"]),
                numbers(own[column] * scale if scale != 1.0 else own[column]),
                role=role,
                subflow=number,
                until=None,
                **(packets(own, subject.captures) if "record" in own.columns else {}),
            )
        )
    return series
