"""Statistics over repeated runs: every figure comes with its n, its spread and an interval.

Values that are None or not finite are left out and counted as missing. Nothing is resampled: the
same values give the same intervals.
"""

from mptcplab.results.statistics.box import Box, box
from mptcplab.results.statistics.ccdf import Ccdf, ccdf, ccdf_of_bins
from mptcplab.results.statistics.correction import adjust
from mptcplab.results.statistics.description import Description, describe
from mptcplab.results.statistics.estimate import Estimate
from mptcplab.results.statistics.gain import Finished, Gain, gain
from mptcplab.results.statistics.intervals import interval, quotient, quotient_of_independent
from mptcplab.results.statistics.pairs import Paired, paired
from mptcplab.results.statistics.testing import pairs_needed, too_few

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
    "too_few",
]
