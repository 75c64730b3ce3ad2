"""Logs of University College Cork: 4G (Raca et al., MMSys 2018) and 5G (MMSys 2020).

A row a second; now and then two of one second, and ``-`` where there is nothing.
"""

from mptcplab.recordings.recording import ANY
from mptcplab.recordings.table import Column, Table

KBPS = 1e-3
KMPH = 1 / 3.6
PERCENT = 0.01

FORMAT = Table(
    name="ucc",
    title="UCC 4G and 5G (Irish carriers; MMSys 2018, 2020): CSV of G-NetTrack Pro",
    needs=("Timestamp", "DL_bitrate", "UL_bitrate", "NetworkMode"),
    time=lambda row, clock: clock.read(row["Timestamp"], "%Y.%m.%d_%H.%M.%S"),
    columns=(
        Column("DL_bitrate", "down_mbps", KBPS),
        Column("UL_bitrate", "up_mbps", KBPS),
        Column("PINGAVG", "rtt_ms"),
        Column("PINGLOSS", "lost", PERCENT),
        Column("NetworkMode", "technology"),
        Column("CellID", "cell"),
        Column("RSRP", "rsrp_dbm"),
        Column("RSRQ", "rsrq_db"),
        Column("SNR", "sinr_db"),
        Column("RSSI", "rssi_dbm"),
        Column("Latitude", "latitude_deg"),
        Column("Longitude", "longitude_deg"),
        Column("Speed", "speed_mps", KMPH),
    ),
    carrier="Operatorname",
    rates=ANY,
    empty="CQI, State, what neighbouring cells were heard with",
    licence="not stated in the file: see the data set",
)
