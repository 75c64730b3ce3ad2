"""What every technology has: schemes of modulation and coding, and what they need and give."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10

# Thermal noise in 1 Hz at 290 K.
NOISE_DBM = -174.0
# Signals are rounded to a hundredth: no rate depends on the last bits of a logarithm.
DIGITS = 2


@dataclass(frozen=True)
class Scheme:
    """A modulation with its coding."""

    name: str
    #: Least signal, in the unit of the table's measure.
    needs: float
    #: Information bits that it carries, per whatever the technology counts.
    efficiency: float


@dataclass(frozen=True)
class Measure:
    """What receivers tell of their radio, and between which values they can."""

    unit: str
    least: float
    most: float
    source: str
    #: Whether a rate follows from it.
    used: bool = True

    def holds(self, value: float) -> bool:
        """Say whether a receiver can have reported that value."""
        return self.least <= value <= self.most


@dataclass(frozen=True)
class Retries:
    """How the link layer sends again: the parameters of the element ``arq``."""

    error_ratio: float
    tries: int
    round_trip_ms: float
    step_ms: float
    back_off_us: float = 0
    source: str = ""


@dataclass(frozen=True)
class Technology(ABC):
    """A technology: its tables, with their sources."""

    name: str
    title: str
    source: str
    measures: Mapping[str, Measure]
    #: Names of its channels, widest use first: what ``bandwidth`` may be.
    channels: Mapping[str, int]
    channel: str
    retries: Retries
    #: Most streams that antennas can send at once.
    most_streams: int = 1
    #: Radiated power of the station with its antenna, and what the signal travels at.
    power_dbm: float | None = None
    frequency_hz: float = 0
    #: Of the path loss.
    exponent: float = 3.0
    #: Whether both directions wait for the same air.
    half_duplex: bool = False
    #: Noise beside which a measured power stands, where schemes are chosen by the ratio.
    noise_dbm: float = 0.0
    #: Carriers in a block, where the measured power is that of one; 0: it is that of the channel.
    carriers: int = 0

    @abstractmethod
    def schemes(self, channel: str) -> Sequence[Scheme]:
        """Give the schemes in rising order, in ``unit``."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """The unit that schemes are chosen by: ``dBm`` or ``dB``."""

    @abstractmethod
    def rates(self, signal: float, channel: str, streams: int) -> tuple[float, float]:
        """Give the bit/s of IP, downwards and upwards, with all of the cell's time."""

    def share_db(self, channel: str) -> float:
        """Give the part of the whole power that the measured one is."""
        return -decibel(self.carriers * self.channels[channel]) if self.carriers else 0.0

    def scheme(self, signal: float, channel: str) -> Scheme | None:
        """Give the fastest scheme that a signal allows."""
        return best(self.schemes(channel), signal)

    def measure(self, unit: str) -> tuple[str, Measure] | None:
        """Give the measure in that unit from which rates follow."""
        fitting = ((n, one) for n, one in self.measures.items() if one.used and one.unit == unit)
        return next(fitting, None)


def best(schemes: Sequence[Scheme], signal: float) -> Scheme | None:
    """Give the last of rising schemes that the signal allows."""
    return max((one for one in schemes if one.needs <= signal), key=lambda s: s.needs, default=None)


def decibel(factor: float) -> float:
    """Give a factor of powers in dB."""
    return 10 * log10(factor)


def rounded(signal: float) -> float:
    """Give a signal as it is compared and shown."""
    return round(signal, DIGITS) + 0.0
