"""Statistics over repeated runs: every figure comes with its n, its spread and an interval.

Values that are None or not finite are left out and counted as missing. Nothing is resampled: the
same values give the same intervals.
"""

from mptcplab.results.statistics.distributions import Box, Ccdf, box, ccdf, ccdf_of_bins
from mptcplab.results.statistics.intervals import (
    Description,
    Estimate,
    describe,
    interval,
    quotient,
    quotient_of_independent,
)
from mptcplab.results.statistics.tests import (
    Finished,
    Gain,
    Paired,
    adjust,
    gain,
    paired,
    pairs_needed,
)

__all__ = [
    "Box",
    "Ccdf",
    "Description",
    "Estimate",
    "Finished",
    "Gain",
    "Paired",
    "adjust",
    "box",
    "ccdf",
    "ccdf_of_bins",
    "describe",
    "gain",
    "interval",
    "paired",
    "pairs_needed",
    "quotient",
    "quotient_of_independent",
]
