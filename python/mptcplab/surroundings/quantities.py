"""What the columns of ``radio`` and ``positions`` may hold."""

from __future__ import annotations

import math
from collections.abc import Mapping

#: Least and most of each column with numbers, as far as anything can be measured or reported.
RADIO: Mapping[str, tuple[float, float]] = {
    # 3GPP TS 36.133 §9.1.4 reports -156 to -44 dBm, TS 38.133 §10.1.6 -156 to -31 dBm.
    "rsrp_dbm": (-156, -31),
    # TS 36.133 §9.1.7 reports -34 to 2.5 dB, TS 38.133 §10.1.11 -43 to 20 dB.
    "rsrq_db": (-43, 20),
    # TS 38.133 §10.1.16 reports -23 to 40 dB; modems go further.
    "sinr_db": (-50, 60),
    "rssi_dbm": (-150, 20),
    "rssi_dbm_mean": (-150, 20),
    "up_mbps": (0, 1e6),
    "down_mbps": (0, 1e6),
}
POSITIONS: Mapping[str, tuple[float, float]] = {
    "latitude_deg": (-90, 90),
    "longitude_deg": (-180, 180),
    "altitude_m": (-1e3, 1e5),
    "speed_mps": (0, 1e4),
    "course_deg": (0, 360),
    "accuracy_m": (0, 1e7),
}


def checked(column: str, value: float, limits: Mapping[str, tuple[float, float]]) -> float:
    """Give a number of a column.

    Raises:
        ValueError: Nothing that is measured is there.
    """
    least, most = limits[column]
    if not math.isfinite(value) or not least <= value <= most:
        raise ValueError(f"{column} is {value:g}: it must be from {least:g} to {most:g}")
    return value


def number(column: str, text: str, limits: Mapping[str, tuple[float, float]]) -> float:
    """Read a number of a column.

    Raises:
        ValueError: It is not a number, or out of bounds.
    """
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{column} is {text!r}: it must be a number") from None
    return checked(column, value, limits)
