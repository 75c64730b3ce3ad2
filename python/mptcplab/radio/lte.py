"""LTE: 3GPP TS 36.213."""

from __future__ import annotations

from mptcplab.radio import cqi
from mptcplab.radio.blocks import Blocks, Ends
from mptcplab.radio.technology import Measure, Retries

# TS 36.213 table 7.2.3-1: bits per resource element.
CQI = (
    ("QPSK", 0.1523),
    ("QPSK", 0.2344),
    ("QPSK", 0.3770),
    ("QPSK", 0.6016),
    ("QPSK", 0.8770),
    ("QPSK", 1.1758),
    ("16-QAM", 1.4766),
    ("16-QAM", 1.9141),
    ("16-QAM", 2.4063),
    ("64-QAM", 2.7305),
    ("64-QAM", 3.3223),
    ("64-QAM", 3.9023),
    ("64-QAM", 4.5234),
    ("64-QAM", 5.1152),
    ("64-QAM", 5.5547),
)
# TS 36.211 §6.2: 12 carriers and 14 symbols a millisecond. Downwards three symbols are control and
# six elements reference signals; upwards two symbols are reference signals (§5.5.2).
DOWN, UP = 12 * 14 - 3 * 12 - 6, 12 * 12
CARRIER_HZ = 15e3
# TR 36.942 §4; a station has two antennas to receive (TS 36.104 §8.1).
ENDS = Ends(device_dbm=23, station_dbm=46, device_noise_db=9, station_noise_db=5)

LTE = Blocks(
    name="lte",
    title="LTE, one carrier",
    source="3GPP TS 36.213 table 7.2.3-1; SNR by Piro et al., European Wireless 2010",
    measures={
        "rsrp": Measure("dBm", -140, -44, "TS 36.133 §9.1.4"),
        "sinr": Measure("dB", -23, 40, "as NR's, TS 38.133 §10.1.16"),
        # Release 12 has it from -34 to 3 dB.
        "rsrq": Measure("dB", -19.5, -3, "TS 36.133 §9.1.7", used=False),
    },
    # TS 36.101 table 5.6-1: resource blocks.
    channels={"1.4 MHz": 6, "3 MHz": 15, "5 MHz": 25, "10 MHz": 50, "15 MHz": 75, "20 MHz": 100},
    channel="10 MHz",
    retries=Retries(0.1, 4, 8, 1, source="TS 36.213 §7.2.3: 10 % of blocks; TS 36.321 §5.3.2"),
    # TS 36.213 §7.1.5B: transmission mode 9.
    most_streams=8,
    # 46 dBm and an antenna with 15 dBi (TR 36.942 §4.2).
    power_dbm=61,
    frequency_hz=1.8e9,
    exponent=3.5,
    table=cqi.schemes(CQI),
    symbols=(DOWN * 1e3, UP * 1e3),
    noise_dbm=ENDS.noise_dbm(CARRIER_HZ),
    carriers=12,
    uplink_db=ENDS.uplink_db,
    # TS 36.306 table 4.1-2: categories below 5 have no 64-QAM upwards.
    uplink_best="CQI 9 (16-QAM)",
)
