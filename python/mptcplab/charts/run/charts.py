"""The charts of a run: the page draws all, figures for papers one of them each.

A function describes what is drawn, or gives none where its tables have nothing; ``KINDS`` of
figures has the first line of its documentation.
"""

from __future__ import annotations

from collections.abc import Callable

from mptcplab.charts.run import events, radio, samples, throughput
from mptcplab.charts.run.subject import Subject
from mptcplab.charts.shape import Chart

#: By their names on the page and as figures, in the page's order.
CHARTS: dict[str, Callable[[Subject], Chart | None]] = {
    "throughput": throughput.chart,
    "beside": throughput.beside,
    "signal": radio.signal,
    "signal-quality": radio.quality,
    "radio-rate": radio.rate,
    "events": events.chart,
    "rtt": samples.rtt,
    "data-sequence": samples.data_sequence,
    "subflow-sequence": samples.subflow_sequence,
    "in-flight": samples.in_flight,
    "congestion-window": samples.congestion_window,
    "window": samples.window,
    "out-of-order-delay": samples.out_of_order_delay,
    "queues": samples.queues,
}


def charts(subject: Subject) -> list[Chart]:
    """Describe all charts of a run."""
    described = (one(subject, name) for name in CHARTS)
    return [chart for chart in described if chart is not None]


def one(subject: Subject, name: str) -> Chart | None:
    """Describe one of them, in the colours of its paths."""
    chart = CHARTS[name](subject)
    if chart is not None:
        chart.id = name
        for series in (*chart.series, *(each for lane in chart.lanes for each in lane.series)):
            if series.look is None and series.subflow is not None:
                series.look = subject.looks.get(series.subflow)
    return chart
