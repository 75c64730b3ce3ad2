"""The receive window that was announced."""

from __future__ import annotations

import polars as pl

from mptcplab.report.charts.samples import by_subflow
from mptcplab.report.columns import definitions, thin
from mptcplab.report.shape import Chart
from mptcplab.report.subject import Subject


def chart(subject: Subject) -> Chart | None:
    """Describe the chart."""
    window = pl.col("window_bytes")
    known = subject.table("window").drop_nulls("window_bytes")
    # Between changes it stays as it is.
    changed = known.filter(window.ne_missing(window.shift().over("subflow")))
    last = known.group_by("subflow", maintain_order=True).last().select(known.columns)
    changes, thinned = thin(pl.concat([changed, last]).sort("at_ns"), "window_bytes")
    if changes.is_empty():
        return None
    return Chart(
        "window",
        "Advertised window",
        "Receive window that the receiver of the data announced last on each subflow, scaled. With "
        "MPTCP it is one window for the whole connection (RFC 8684 §3.3.1).",
        definitions("window", "at_s", "window_bytes", "record"),
        series=by_subflow(subject, changes, "window_bytes", "step", scale=1e-3),
        value="kB",
        thinned=thinned,
    )
