"""5G NR: 3GPP TS 38.214, below 6 GHz and in millimetre waves."""

from __future__ import annotations

from dataclasses import replace

from mptcplab.radio import cqi
from mptcplab.radio.blocks import Blocks, Ends
from mptcplab.radio.technology import Measure, Retries

# TS 38.214 table 5.2.2.1-3: bits per resource element.
CQI = (
    ("QPSK", 0.1523),
    ("QPSK", 0.3770),
    ("QPSK", 0.8770),
    ("16-QAM", 1.4766),
    ("16-QAM", 1.9141),
    ("16-QAM", 2.4063),
    ("64-QAM", 2.7305),
    ("64-QAM", 3.3223),
    ("64-QAM", 3.9023),
    ("64-QAM", 4.5234),
    ("64-QAM", 5.1152),
    ("256-QAM", 5.5547),
    ("256-QAM", 6.2266),
    ("256-QAM", 6.9141),
    ("256-QAM", 7.4063),
)
ELEMENTS = 12 * 14 * 1e3
# Four parts of five of the time downwards: the pattern DDDSU, assumed.
TIME = (0.8, 0.2)
# TS 38.306 §4.1.2: what signalling takes, downwards and upwards.
OVERHEAD, OVERHEAD_MILLIMETRE = (0.14, 0.08), (0.18, 0.10)
# TS 38.211 table 4.2-1: the spacing of subcarriers, in units of 15 kHz.
CARRIER_HZ, SPACINGS, SPACINGS_MILLIMETRE = 15e3, 2, 8
# All assumed. In millimetre waves a device sends a beam, and hears with as many antennas.
ENDS = Ends(device_dbm=23, station_dbm=49, device_noise_db=9, station_noise_db=5)
ENDS_MILLIMETRE = Ends(34, 60, device_noise_db=10, station_noise_db=7, diversity_db=0)


def _symbols(spacings: int, overhead: tuple[float, float]) -> tuple[float, float]:
    """Give elements of a block and second, downwards and upwards."""
    down, up = (
        ELEMENTS * spacings * time * (1 - part) for time, part in zip(TIME, overhead, strict=True)
    )
    return down, up


NR = Blocks(
    name="nr",
    title="5G NR below 6 GHz, one carrier",
    source="3GPP TS 38.214 table 5.2.2.1-3; SNR by Piro et al., European Wireless 2010",
    measures={
        "rsrp": Measure("dBm", -156, -31, "TS 38.133 §10.1.6"),
        "sinr": Measure("dB", -23, 40, "TS 38.133 §10.1.16"),
        "rsrq": Measure("dB", -43, 20, "TS 38.133 §10.1.11", used=False),
    },
    # TS 38.101-1 table 5.3.2-1: resource blocks with 30 kHz.
    channels={"20 MHz": 51, "40 MHz": 106, "50 MHz": 133, "60 MHz": 162, "80 MHz": 217}
    | {"100 MHz": 273},
    channel="100 MHz",
    retries=Retries(
        0.1, 4, 4, 0.5, source="TS 38.214 §5.2.2.1: 10 % of blocks; a retry is assumed"
    ),
    # TS 38.211 §7.3.1.3.
    most_streams=8,
    # 49 dBm and an antenna with 15 dBi, assumed.
    power_dbm=64,
    frequency_hz=3.5e9,
    exponent=3.5,
    table=cqi.schemes(CQI),
    symbols=_symbols(SPACINGS, OVERHEAD),
    noise_dbm=ENDS.noise_dbm(SPACINGS * CARRIER_HZ),
    carriers=12,
    uplink_db=ENDS.uplink_db,
    uplink_best="CQI 15 (256-QAM)",
)
MILLIMETRE = replace(
    NR,
    name="nr-mmwave",
    title="5G NR in millimetre waves, one carrier",
    # TS 38.101-2 table 5.3.2-1: resource blocks with 120 kHz.
    channels={"50 MHz": 32, "100 MHz": 66, "200 MHz": 132, "400 MHz": 264},
    channel="400 MHz",
    retries=replace(NR.retries, round_trip_ms=2, step_ms=0.125),
    # Beams of 60 dBm (FCC allows 75 dBm in 100 MHz), assumed.
    power_dbm=60,
    frequency_hz=28e9,
    # Akdeniz et al., IEEE JSAC 32(6), 2014, table I: 2 in line of sight.
    exponent=2.0,
    symbols=_symbols(SPACINGS_MILLIMETRE, OVERHEAD_MILLIMETRE),
    noise_dbm=ENDS_MILLIMETRE.noise_dbm(SPACINGS_MILLIMETRE * CARRIER_HZ),
    uplink_db=ENDS_MILLIMETRE.uplink_db,
    uplink_best="CQI 11 (64-QAM)",
)
