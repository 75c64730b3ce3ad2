"""Wi-Fi: IEEE 802.11g, n, ac and ax."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mptcplab.radio.technology import Measure, Retries, Scheme, Technology

# Bits per carrier of a symbol, and the least power of receivers in 20 MHz: IEEE 802.11-2016 tables
# 17-18 (g) and 19-23 (n), 21-25 (ac); IEEE 802.11ax-2021 table 27-51. Each doubling of the
# channel needs 3 dB more.
OFDM = (
    ("BPSK 1/2", 1 / 2, -82),
    ("BPSK 3/4", 3 / 4, -81),
    ("QPSK 1/2", 1, -79),
    ("QPSK 3/4", 3 / 2, -77),
    ("16-QAM 1/2", 2, -74),
    ("16-QAM 3/4", 3, -70),
    ("64-QAM 2/3", 4, -66),
    ("64-QAM 3/4", 9 / 2, -65),
)
HT = (
    ("BPSK 1/2", 1 / 2, -82),
    ("QPSK 1/2", 1, -79),
    ("QPSK 3/4", 3 / 2, -77),
    ("16-QAM 1/2", 2, -74),
    ("16-QAM 3/4", 3, -70),
    ("64-QAM 2/3", 4, -66),
    ("64-QAM 3/4", 9 / 2, -65),
    ("64-QAM 5/6", 5, -64),
)
VHT = (*HT, ("256-QAM 3/4", 6, -59), ("256-QAM 5/6", 20 / 3, -57))
HE = (*VHT, ("1024-QAM 3/4", 15 / 2, -54), ("1024-QAM 5/6", 25 / 3, -52))
DOUBLED_DB = 3
# Of a transmission, in µs: DIFS, the mean of the first back-off, SIFS and its answer (IEEE
# 802.11-2016 §10.3 and table 17-21); the preamble beside it is the technology's.
AROUND_US = 34 + 15 / 2 * 9 + 16 + 32
PACKET_BYTES, HEADER_BYTES = 1500, 40
# As many packets as fit into 4 ms go at once, where they may (§10.13): all take turns.
LONGEST_US = 4000


@dataclass(frozen=True)
class Wifi(Technology):
    """Rates are those of the scheme less what goes before and behind each transmission."""

    table: tuple[tuple[str, float, float], ...] = ()
    #: How many of the last schemes a channel has not.
    without: Mapping[str, int] = field(default_factory=dict)
    #: IEEE 802.11-2016 §17.3.2: 8 + 8 + 4 µs.
    preamble_us: float = 20
    symbol_us: float = 4.0
    #: Packets that are acknowledged together.
    most_packets: int = 1

    @property
    def unit(self) -> str:
        """Schemes are chosen by the power."""
        return "dBm"

    def schemes(self, channel: str) -> Sequence[Scheme]:
        """Give the schemes of a channel."""
        width = int(channel.split()[0]) // 20
        wider = DOUBLED_DB * (width.bit_length() - 1)
        named = f"{{}} (MCS {{}}, {channel})" if self.most_packets > 1 else "{}"
        available = self.table[: len(self.table) - self.without.get(channel, 0)]
        return [
            Scheme(named.format(name, number), needs + wider, efficiency)
            for number, (name, efficiency, needs) in enumerate(available)
        ]

    def air_mbps(self, scheme: Scheme, channel: str, streams: int) -> float:
        """Give the rate of the scheme itself."""
        return self.channels[channel] * scheme.efficiency * streams / self.symbol_us

    def rates(self, signal: float, channel: str, streams: int) -> tuple[float, float]:
        """Give both rates, which are one."""
        scheme = self.scheme(signal, channel)
        if scheme is None:
            return 0.0, 0.0
        air = self.air_mbps(scheme, channel, streams)
        bits = 8 * (PACKET_BYTES + HEADER_BYTES)
        packets = max(1, min(self.most_packets, int(air * LONGEST_US / bits)))
        taken_us = AROUND_US + self.preamble_us + packets * bits / air
        rate = 1e6 * packets * 8 * PACKET_BYTES / taken_us
        return rate, rate


WIFI_G = Wifi(
    name="802.11g",
    title="Wi-Fi of 2003 (OFDM)",
    source="IEEE 802.11-2016 table 17-18",
    measures={"rssi": Measure("dBm", -110, 0, "IEEE 802.11-2016 §9.4.2.38 (RCPI)")},
    channels={"20 MHz": 48},
    channel="20 MHz",
    retries=Retries(
        0.1,
        7,
        1,
        1,
        300,
        source="IEEE 802.11-2016 §17.3.10.2: 10 % of packets; dot11ShortRetryLimit",
    ),
    # The most in 2.4 GHz in Europe (ETSI EN 300 328).
    power_dbm=20,
    frequency_hz=2.437e9,
    half_duplex=True,
    table=OFDM,
)
WIFI_N = replace(
    WIFI_G,
    name="802.11n",
    title="Wi-Fi 4",
    source="IEEE 802.11-2016 table 19-23",
    channels={"20 MHz": 52, "40 MHz": 108},
    table=HT,
    # Clause 19.
    most_streams=4,
    # §19.3.2, mixed format and one stream: that of 802.11g, then 8 + 4 + 4 µs.
    preamble_us=36,
    # §9.4.2.56.3: 65535 bytes at once.
    most_packets=65535 // (PACKET_BYTES + HEADER_BYTES),
)
WIFI_AC = replace(
    WIFI_N,
    name="802.11ac",
    title="Wi-Fi 5",
    source="IEEE 802.11-2016 table 21-25",
    channels={"20 MHz": 52, "40 MHz": 108, "80 MHz": 234, "160 MHz": 468},
    channel="80 MHz",
    # The most in 5150 to 5350 MHz in Europe (ETSI EN 301 893).
    power_dbm=23,
    frequency_hz=5.25e9,
    table=VHT,
    # Clause 21.
    most_streams=8,
    # §21.5: 256-QAM 5/6 is there in 20 MHz for three and six streams only.
    without={"20 MHz": 1},
    # §21.3.2: 20 + 8 + 4 + 4 + 4 µs.
    preamble_us=40,
    # §9.3.1.9: the bitmap of a block acknowledgement; a megabyte at once is more.
    most_packets=64,
)
WIFI_AX = replace(
    WIFI_AC,
    name="802.11ax",
    title="Wi-Fi 6",
    source="IEEE 802.11ax-2021 table 27-51",
    channels={"20 MHz": 234, "40 MHz": 468, "80 MHz": 980, "160 MHz": 1960},
    table=HE,
    without={},
    # §27.3.4: 20 + 4 + 8 + 4 + 7.2 µs.
    preamble_us=43.2,
    # §9.3.1.9 as of IEEE 802.11ax-2021.
    most_packets=256,
    # With the shortest guard interval.
    symbol_us=13.6,
)
