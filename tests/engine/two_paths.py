"""A scenario over Wi-Fi and LTE, as several tests have it."""

from __future__ import annotations


def two_paths(transfer: str = 'size = "1 MB"', run: str = 'sample = "20 ms"') -> str:
    """Write it, with what is said of the transfer and of the run."""
    return f"""\
schema = 1

[transfer]
direction = "download"
{transfer}

[path.wifi]
rate = "20 Mbit/s"
delay = "5 ms"
queue = "60 kB"

[path.lte]
rate = "10 Mbit/s"
delay = "15 ms"
queue = "60 kB"

[kernel]
congestion_control = "reno"

[run]
{run}
"""
