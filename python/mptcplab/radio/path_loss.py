"""Path loss that grows with the logarithm of the distance."""

from __future__ import annotations

from math import log10, pi

LIGHT_METRES_PER_SECOND = 299_792_458
NEAREST_METRES = 1.0


def free_space_db(metres: float, frequency_hz: float) -> float:
    """Give the loss in free space: 20 log10(4 pi d f / c) (Friis, 1946)."""
    return 20 * log10(4 * pi * metres * frequency_hz / LIGHT_METRES_PER_SECOND)


def log_distance_db(metres: float, frequency_hz: float, exponent: float) -> float:
    """Give the loss beyond 1 m, where it is that of free space.

    10 n log10(d / 1 m) more than there (Rappaport, Wireless Communications, 2nd edition, §4.9.1);
    his table 4.2 has n = 2 in free space, 2.7 to 3.5 in cities, 3 to 5 in their shadows, 1.6 to 1.8
    in line of sight within buildings and 4 to 6 behind their walls.
    """
    beyond = 10 * exponent * log10(max(metres, NEAREST_METRES) / NEAREST_METRES)
    return free_space_db(NEAREST_METRES, frequency_hz) + beyond
