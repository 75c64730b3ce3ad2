"""Lumos5G 1.0 (Narayanan et al., IMC 2020): a row a second, columns as its README has them."""

from mptcplab.recordings.recording import TCP
from mptcplab.recordings.table import Column, Table

FORMAT = Table(
    name="lumos5g",
    title="Lumos5G 1.0 (IMC 2020): CSV of mmWave 5G, walked and driven",
    needs=("run_num", "seq_num", "nrStatus", "Throughput"),
    number="seq_num",
    runs=("run_num",),
    columns=(
        Column("Throughput", "mbps"),
        Column("nr_ssRsrp", "rsrp_dbm"),
        Column("nr_ssRsrq", "rsrq_db"),
        Column("nr_ssSinr", "sinr_db"),
        Column("lte_rssi", "rssi_dbm"),
        Column("tower_id", "cell"),
        Column("latitude", "latitude_deg"),
        Column("longitude", "longitude_deg"),
        Column("movingSpeed", "speed_mps"),
        Column("compassDirection", "course_deg"),
    ),
    rates=TCP,
    empty=(
        "times of a clock, the other direction, delay, loss; lte_rsrp, lte_rsrq and "
        "lte_rssnr beside 5G's"
    ),
    licence="CC BY 4.0, as the data set says",
)
