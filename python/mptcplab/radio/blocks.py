"""Technologies that share a channel out in blocks of frequency: LTE, NR and Mobile WiMAX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mptcplab.radio.technology import NOISE_DBM, Scheme, Technology, best, decibel, rounded


@dataclass(frozen=True)
class Ends:
    """What device and station send, and how well they hear."""

    device_dbm: float
    station_dbm: float
    device_noise_db: float
    station_noise_db: float
    #: Of the antennas that a station has more than a device to receive.
    diversity_db: float = 3

    @property
    def uplink_db(self) -> float:
        """Give what the station hears more of the device than the device of it."""
        sent = self.device_dbm - self.station_dbm
        return sent + self.device_noise_db - self.station_noise_db + self.diversity_db

    def noise_dbm(self, carrier_hz: float) -> float:
        """Give the noise that a device hears beside one carrier."""
        return rounded(NOISE_DBM + decibel(carrier_hz) + self.device_noise_db)


@dataclass(frozen=True)
class Blocks(Technology):
    """Rates are blocks times what the scheme carries in each."""

    table: tuple[Scheme, ...] = ()
    #: Of a block and second, after what signalling takes, downwards and upwards.
    symbols: tuple[float, float] = (0, 0)
    #: Blocks upwards, by channel, where they are others.
    uplink_blocks: dict[str, int] | None = None
    #: What the station hears more of the device than the device of it.
    uplink_db: float = 0
    #: Fastest scheme upwards.
    uplink_best: str = ""

    @property
    def unit(self) -> str:
        """Schemes are chosen by the ratio to noise and interference."""
        return "dB"

    def schemes(self, channel: str) -> Sequence[Scheme]:  # noqa: ARG002 - alike in all channels
        """Give the schemes."""
        return self.table

    def rates(self, signal: float, channel: str, streams: int) -> tuple[float, float]:
        """Give both rates; upwards the power is put on as many blocks as carry the most."""
        down = best(self.table, signal)
        blocks = self.channels[channel]
        rate = blocks * self.symbols[0] * streams * down.efficiency if down else 0.0
        return rate, self._uplink(signal, channel)

    def _uplink(self, signal: float, channel: str) -> float:
        blocks = (self.uplink_blocks or self.channels)[channel]
        names = [scheme.name for scheme in self.table]
        table = self.table[: names.index(self.uplink_best) + 1]
        most = 0.0
        for used in range(1, blocks + 1):
            scheme = best(table, rounded(signal + self.uplink_db + decibel(blocks / used)))
            most = max(most, used * scheme.efficiency if scheme else 0.0)
        return most * self.symbols[1]
