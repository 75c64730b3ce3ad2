"""The charts of a run, one file each; each is left out where its tables have nothing."""

from __future__ import annotations

from mptcplab.report.charts import (
    congestion,
    flight,
    happened,
    queueing,
    reordering,
    rtt,
    sequence,
    throughput,
    window,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.report.shape import Chart
    from mptcplab.report.subject import Subject


def charts(subject: Subject) -> list[Chart]:
    """Describe all charts of a run, in order."""
    made = [
        throughput.chart(subject),
        happened.chart(subject),
        rtt.chart(subject),
        sequence.of_data(subject),
        sequence.of_subflows(subject),
        flight.chart(subject),
        congestion.chart(subject),
        window.chart(subject),
        reordering.chart(subject),
        queueing.chart(subject),
    ]
    return [chart for chart in made if chart is not None]
