"""What measurements far apart say together."""

from __future__ import annotations

import statistics

from mptcplab.recordings.recording import Figure


def figure(values: list[float]) -> Figure:
    """Give their mean and spread."""
    mean = statistics.fmean(values)
    deviation = statistics.stdev(values) if len(values) > 1 else 0
    return Figure(mean, deviation / mean if mean else 0, len(values))
