"""Out-of-order delay: how long data waited for what came before it."""

from __future__ import annotations

from mptcplab.report.charts.samples import by_subflow
from mptcplab.report.columns import definitions, thin
from mptcplab.report.shape import Chart
from mptcplab.report.subject import Subject


def chart(subject: Subject) -> Chart | None:
    """Describe the chart."""
    arrived, thinned = thin(subject.table("reordering"), "out_of_order_delay_ms")
    if arrived.is_empty():
        return None
    return Chart(
        "out-of-order-delay",
        "Out-of-order delay",
        "A point per data segment that arrived: how long it waited until all data before it had "
        "come, on whichever subflow. Segments in order waited 0 ms.",
        definitions("reordering", "at_s", "out_of_order_delay_ms", "record"),
        series=by_subflow(subject, arrived, "out_of_order_delay_ms", "points"),
        value="ms",
        thinned=thinned,
    )
