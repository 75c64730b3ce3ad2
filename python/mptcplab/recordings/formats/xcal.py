"""XCAL logs as NUWiNS publishes them (multi-carrier data set, PAM 2025): CSV of a drive tester."""

from mptcplab.recordings.recording import TCP
from mptcplab.recordings.table import Column, Table

THROUGHPUT = "Smart Phone Smart Throughput Mobile Network {} Throughput [Mbps]"

FORMAT = Table(
    name="xcal",
    title="NUWiNS multi-carrier (PAM 2025): CSV of XCAL, carriers driven at once",
    needs=("TIME_STAMP", "Lat", "Lon"),
    time=lambda row, clock: clock.read(row["TIME_STAMP"]),
    columns=(
        Column(THROUGHPUT.format("DL"), "down_mbps"),
        Column(THROUGHPUT.format("UL"), "up_mbps"),
        Column("Event Technology", "technology"),
        Column("Event Technology(Band)", "band"),
        Column("5G KPI PCell RF Serving PCI", "cell"),
        Column("LTE KPI PCell Serving PCI", "cell"),
        Column("5G KPI PCell RF Serving SS-RSRP [dBm]", "rsrp_dbm"),
        Column("Lat", "latitude_deg"),
        Column("Lon", "longitude_deg"),
    ),
    rates=TCP,
    empty="delay, loss; events, frequencies, EARFCN",
    licence="CC0 1.0, as the data set says",
)
