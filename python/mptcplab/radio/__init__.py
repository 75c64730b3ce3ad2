"""From radio conditions to rates: a small model per technology, from the tables of its standard.

>>> from mptcplab import radio
>>> radio.ceiling("lte", "-95 dBm", bandwidth="20 MHz").downlink_bits_per_second
69990000
"""

from __future__ import annotations

from mptcplab._core import Error
from mptcplab.messages import nearest
from mptcplab.quantity import DECIBEL, SIGNAL
from mptcplab.radio import limit
from mptcplab.radio.limit import Ceiling
from mptcplab.radio.technology import Technology

__all__ = ["Ceiling", "ceiling", "named", "technologies"]


def technologies() -> list[Technology]:
    """Give all technologies. To add one: a file here and a name below."""
    from mptcplab.radio.hspa import HSPA
    from mptcplab.radio.lte import LTE
    from mptcplab.radio.nr import MILLIMETRE, NR
    from mptcplab.radio.wifi import WIFI_AC, WIFI_AX, WIFI_G, WIFI_N
    from mptcplab.radio.wimax import WIMAX

    return [HSPA, WIMAX, LTE, NR, MILLIMETRE, WIFI_G, WIFI_N, WIFI_AC, WIFI_AX]


def named(name: str) -> Technology:
    """Give a technology by its name."""
    known = {one.name: one for one in technologies()}
    if name not in known:
        raise Error(f'there is no technology "{name}"; {nearest(name, known)}')
    return known[name]


def ceiling(
    technology: str,
    signal: str,
    *,
    bandwidth: str | None = None,
    streams: int = 1,
    noise_rise: str = "0 dB",
) -> Ceiling:
    """Give the highest rates that a signal allows, as if the device were alone in the cell.

    Args:
        technology: Name of the technology; ``mptcplab radio`` lists them.
        signal: A power (``"-95 dBm"``) or a ratio to noise and interference (``"12 dB"``).
        bandwidth: Channel bandwidth. If left out, the usual one.
        streams: Number of spatial streams on the downlink.
        noise_rise: How much interference from others raises the noise, if the signal is a power.

    Raises:
        Error: There is no such technology or bandwidth, or the signal is out of its range.
    """
    try:
        value, unit = SIGNAL.parse(signal)
        rise = DECIBEL.parse(noise_rise)
    except ValueError as error:
        raise Error(str(error)) from None
    return limit.ceiling(named(technology), value, unit, bandwidth, streams, rise)
