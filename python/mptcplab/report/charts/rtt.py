"""Round-trip times."""

from __future__ import annotations

from mptcplab.report.charts.samples import by_subflow
from mptcplab.report.columns import definitions, thin
from mptcplab.report.shape import Chart
from mptcplab.report.subject import Subject


def chart(subject: Subject) -> Chart | None:
    """Describe the chart."""
    samples, thinned = thin(subject.table("rtt"), "rtt_ms")
    if samples.is_empty():
        return None
    return Chart(
        "rtt",
        "Round-trip time",
        "A point per sample: from a data segment leaving its sender to the first acknowledgement "
        "of exactly its end. Segments sent more than once, segments before which one was sent "
        "again meanwhile, and duplicate acknowledgements give no sample (tcptrace's rule).",
        definitions("rtt", "at_s", "rtt_ms", "record"),
        series=by_subflow(subject, samples, "rtt_ms", "points"),
        value="ms",
        thinned=thinned,
    )
