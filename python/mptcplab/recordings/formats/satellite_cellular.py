"""Satellite-vs-Cellular (Hu et al., LEO Satellite vs. Cellular Networks, CoNEXT 2023).

Five networks driven at once, a row a second: ``2023-04-18 10:43:02 CDT,15.6,0.08,44.98,-93.21``.
"""

from mptcplab.recordings.recording import UDP
from mptcplab.recordings.table import Column, Table

MPH = 0.44704

FORMAT = Table(
    name="satellite-cellular",
    title="Satellite-vs-Cellular (CoNEXT 2023): CSV of Starlink and carriers, driven at once",
    # The data set has it misspelt.
    needs=("time", "throughput", "longtitu"),
    time=lambda row, clock: clock.read(row["time"]),
    columns=(
        Column("throughput", "mbps"),
        Column("speed", "speed_mps", MPH),
        Column("latitude", "latitude_deg"),
        Column("longtitu", "longitude_deg"),
    ),
    rates=UDP + " (files of the folder TCP are not)",
    empty="the other direction, delay, loss, radio; area_type",
    licence="not stated by the data set",
)
