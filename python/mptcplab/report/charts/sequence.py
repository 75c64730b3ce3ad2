"""Sequence graphs: where in the stream each segment was, when it was sent."""

from __future__ import annotations

import polars as pl

from mptcplab.report.charts.samples import by_subflow
from mptcplab.report.columns import definitions, thin
from mptcplab.report.shape import Chart
from mptcplab.report.subject import Subject

KINDS = (("new", "data"), ("retransmission", "retransmission"), ("reinjection", "reinjection"))


def of_data(subject: Subject) -> Chart | None:
    """Place of each packet in the connection's stream over time, with what was sent again."""
    return _chart(
        subject,
        "data_offset_bytes",
        "Data sequence",
        "A point per data packet: its first byte's place in the connection's stream, from 0, when "
        "the packet was sent. Two paths that share the stream run side by side; data that is sent "
        "again, on its subflow or on another one, lies below.",
    )


def of_subflows(subject: Subject) -> Chart | None:
    """Place of each packet in its subflow's stream over time, with what was sent again."""
    return _chart(
        subject,
        "subflow_offset_bytes",
        "Subflow sequence",
        "A point per data packet: its first byte's place in the stream of its subflow, from 0, "
        "when the packet was sent. The slope is the subflow's rate.",
    )


def _chart(subject: Subject, column: str, title: str, note: str) -> Chart | None:
    sent = subject.table("segments").drop_nulls(column)
    segments, thinned = thin(sent, column, keep=pl.col("kind") != "new")
    if segments.is_empty():
        return None
    return Chart(
        title,
        note,
        definitions("segments", "at_s", column, "kind", "record"),
        series=[
            series
            for kind, role in KINDS
            for series in by_subflow(
                subject,
                segments.filter(kind=kind),
                column,
                "points",
                scale=1e-6,
                role=role,  # type: ignore[arg-type]
                remark="" if kind == "new" else kind,
            )
        ],
        value="MB",
        from_zero=False,
        thinned=thinned,
    )
