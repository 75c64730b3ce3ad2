"""Bytes in flight."""

from __future__ import annotations

from mptcplab.report.charts.samples import by_subflow
from mptcplab.report.columns import definitions, thin
from mptcplab.report.shape import Chart
from mptcplab.report.subject import Subject


def chart(subject: Subject) -> Chart | None:
    """Describe the chart."""
    known = subject.table("window").drop_nulls("in_flight_bytes")
    changes, thinned = thin(known, "in_flight_bytes")
    if changes.is_empty():
        return None
    return Chart(
        "in-flight",
        "Bytes in flight",
        "Sent and not yet acknowledged on the subflow, after every packet that changed it.",
        definitions("window", "at_s", "in_flight_bytes", "record"),
        series=by_subflow(subject, changes, "in_flight_bytes", "step", scale=1e-3),
        value="kB",
        thinned=thinned,
    )
