"""What the figures of a run are called, with their units."""

from __future__ import annotations

NAMES = {
    "throughput_mbps": ("throughput", "Mbit/s"),
    "bytes": ("delivered data", "bytes"),
    "elapsed_s": ("transfer time", "s"),
    "rtt_ms_mean": ("mean RTT", "ms"),
    "rtt_ms_median": ("median RTT", "ms"),
    "rtt_ms_p95": ("95th percentile of RTT", "ms"),
    "rtt_ms_p99": ("99th percentile of RTT", "ms"),
    "out_of_order_delay_ms_mean": ("mean out-of-order delay", "ms"),
    "out_of_order_delay_ms_p95": ("95th percentile of out-of-order delay", "ms"),
    "out_of_order_delay_ms_p99": ("99th percentile of out-of-order delay", "ms"),
    "response_time_ms_mean": ("mean response time", "ms"),
    "response_time_ms_median": ("median response time", "ms"),
    "response_time_ms_p95": ("95th percentile of response time", "ms"),
    "reinjected_bytes": ("reinjected data", "bytes"),
    "coefficient_of_variation": ("coefficient of variation", ""),
    "longest_gap_ms": ("longest gap", "ms"),
    "loss_rate_percent": ("loss rate", "%"),
}


def labelled(figure: str) -> str:
    """Name a figure as at an axis: transfer time (s)."""
    name, unit = NAMES[figure]
    return f"{name} ({unit})" if unit else name


def capital(words: str) -> str:
    """Begin with a capital, and leave the rest as it is."""
    return words[:1].upper() + words[1:]
