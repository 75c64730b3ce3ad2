"""5Gophers 1.0 (Narayanan et al., A First Look at Commercial 5G on Smartphones, WWW 2020).

Its files differ: throughput of runs, also of carriers side by side, and round trips of probes.
"""

from __future__ import annotations

from dataclasses import replace

from mptcplab.recordings.file import File, Options
from mptcplab.recordings.recording import TCP, Recording
from mptcplab.recordings.table import Column, Table

BESIDE = "_throughput_mbps"
COLUMNS = (
    Column("throughput_mbps", "mbps"),
    Column("rtt_in_ms", "rtt_ms"),
    Column("radio_type", "technology"),
    Column("network_type", "technology"),
    Column("anonymized_mCid", "cell"),
)
RUNS = ("protocol", "server_location", "num_tcp_conn", "location", "ue_location", "run_num")
# Rows are a second apart: the paper's iPerf and its probes.
NUMBERS = ("seq_num", "probe_num")


class FiveGophers:
    """Its files with a row a second."""

    name = "5gophers"
    title = "5Gophers 1.0 (WWW 2020): CSV of three carriers' 5G, throughput and probes"
    reads = ", ".join(column.label for column in COLUMNS) + f"; CARRIER{BESIDE} → a path for each"
    empty = "times of a clock, the other direction, loss, positions"
    licence = "CC BY 4.0, as the data set says"

    def matches(self, file: File) -> bool:
        """Say whether rows are numbered and have a rate or a round trip."""
        names = set(file.columns)
        measured = {"throughput_mbps", "rtt_in_ms"} & names
        beside = [name for name in names if name.endswith(BESIDE)]
        return "protocol" in names and bool({*NUMBERS} & names) and bool(measured or beside)

    def read(self, file: File, options: Options) -> list[Recording]:
        numbered = next(name for name in NUMBERS if name in file.columns)
        table = Table(
            name=self.name,
            title=self.title,
            needs=(numbered,),
            number=numbered,
            runs=RUNS,
            carrier="carrier",
            columns=COLUMNS,
            rates=TCP,
            licence=self.licence,
        )
        found = []
        for name in (name for name in file.columns if name.endswith(BESIDE)):
            beside = replace(table, columns=(Column(name, "mbps"),), carrier=None)
            (recording,) = beside.read(file, options) or [Recording(rates=TCP)]
            recording.name = name.removesuffix(BESIDE)
            found.append(recording)
        return found or table.read(file, options)


FORMAT = FiveGophers()
