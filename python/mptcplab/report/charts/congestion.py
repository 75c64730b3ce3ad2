"""Congestion windows, which only the sender knows."""

from __future__ import annotations

import polars as pl

from mptcplab.report.charts.samples import by_subflow
from mptcplab.report.columns import definitions, thin
from mptcplab.report.shape import Chart
from mptcplab.report.subject import Subject


def chart(subject: Subject) -> Chart | None:
    """Describe the chart."""
    known = subject.table("state").filter(pl.col("host") == subject.sender)
    samples, thinned = thin(known.drop_nulls("cwnd_packets"), "cwnd_packets")
    if samples.is_empty():
        return None
    return Chart(
        "congestion-window",
        "Congestion window",
        "What the sender itself knew, sampled: captures do not show it. Dotted: the slow-start "
        "threshold, from the first loss on.",
        definitions("state", "at_s", "cwnd_packets", "ssthresh_packets"),
        series=[
            *by_subflow(subject, samples, "cwnd_packets", "step"),
            *by_subflow(
                subject, samples, "ssthresh_packets", "step", role="limit", remark="ssthresh"
            ),
        ],
        value="packets",
        thinned=thinned,
    )
