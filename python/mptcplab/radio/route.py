"""What is heard along a route."""

from __future__ import annotations

from mptcplab.radio.path_loss import log_distance_db
from mptcplab.radio.technology import Technology, rounded


def received_dbm(
    technology: Technology,
    channel: str,
    metres: float,
    power_dbm: float | None = None,
    frequency_hz: float | None = None,
    exponent: float | None = None,
) -> float:
    """Give the power that a device measures so far from the station."""
    power = technology.power_dbm if power_dbm is None else power_dbm
    assert power is not None  # noqa: S101 - who has no power has no route of distances
    loss = log_distance_db(
        metres, frequency_hz or technology.frequency_hz, exponent or technology.exponent
    )
    return rounded(power - loss + technology.share_db(channel))


def between(first: float, last: float, part: float) -> float:
    """Give what is heard, or how far it is, on the way from one point to the next."""
    return first + (last - first) * part
