"""Mobile WiMAX: IEEE 802.16e."""

from __future__ import annotations

from mptcplab.radio.blocks import Blocks, Ends
from mptcplab.radio.technology import Measure, Retries, Scheme, decibel, rounded

# IEEE 802.16e-2005 table 338: the least signal-to-noise ratio of receivers, for bit errors of 1e-6.
# As it is remembered: no copy of that table could be read.
PROFILES = (
    Scheme("QPSK 1/2", 5, 2 * 1 / 2),
    Scheme("QPSK 3/4", 8, 2 * 3 / 4),
    Scheme("16-QAM 1/2", 10.5, 4 * 1 / 2),
    Scheme("16-QAM 3/4", 14, 4 * 3 / 4),
    Scheme("64-QAM 1/2", 16, 6 * 1 / 2),
    Scheme("64-QAM 2/3", 18, 6 * 2 / 3),
    Scheme("64-QAM 3/4", 20, 6 * 3 / 4),
)
# WiMAX Forum, "Mobile WiMAX, part I" (2006), table 3: 44 symbols with data in a frame of 5 ms, 24
# data carriers in each of 30 subchannels downwards, 16 in each of 35 upwards.
FRAMES, SYMBOLS, DOWN, UP = 200, 44, 24, 16
# 29 and 18 of the 47 symbols of a frame, as So-In, Jain and Tamimi divide it ("Capacity Evaluation
# for IEEE 802.16e Mobile WiMAX", 2010, table 4).
TIME = (29 / 47, 18 / 47)
# IEEE 802.16e-2005 §8.4.13.1: -114 dBm in 1 MHz, a noise figure of 8 dB and 5 dB for the rest of
# the receiver; 841 of 1024 carriers used of 11.2 MHz.
# WiMAX Forum, table 9: 23 dBm against 43 dBm, a noise figure of 4 dB, two antennas to receive.
ENDS = Ends(device_dbm=23, station_dbm=43, device_noise_db=8, station_noise_db=4)
NOISE = rounded(-114 + ENDS.device_noise_db + 5 + decibel(11.2 * 841 / 1024))
BIT_ERRORS, PACKET_BITS = 1e-6, 12_000

WIMAX = Blocks(
    name="wimax",
    title="Mobile WiMAX, 10 MHz in time division",
    source="IEEE 802.16e-2005 table 338; WiMAX Forum, Mobile WiMAX part I, table 3",
    measures={
        "rssi": Measure("dBm", -123, -40, "IEEE 802.16-2004 §8.4.11.2"),
        "cinr": Measure("dB", -10, 53, "IEEE 802.16-2004 §8.4.11.3"),
    },
    channels={"10 MHz": 30},
    channel="10 MHz",
    retries=Retries(
        round(1 - (1 - BIT_ERRORS) ** PACKET_BITS, 3),
        4,
        15,
        5,
        source="a packet of 1500 bytes with bit errors of 1e-6; three frames for a retry, assumed",
    ),
    # Matrix B of two antennas (WiMAX Forum, table 4).
    most_streams=2,
    # WiMAX Forum, table 9: 43 dBm and an antenna with 15 dBi.
    power_dbm=58,
    frequency_hz=2.6e9,
    exponent=3.5,
    table=PROFILES,
    symbols=(FRAMES * SYMBOLS * DOWN * TIME[0], FRAMES * SYMBOLS * UP * TIME[1]),
    uplink_blocks={"10 MHz": 35},
    noise_dbm=NOISE,
    uplink_db=ENDS.uplink_db,
    # 64-QAM is optional upwards (WiMAX Forum, table 2).
    uplink_best="16-QAM 3/4",
)
