"""ERRANT (Trevisan et al., Computer Networks 2020): ``profiles.csv``, a row per network's model."""

from __future__ import annotations

from mptcplab.recordings import table
from mptcplab.recordings.file import File, Options
from mptcplab.recordings.recording import Figure, Recording

WHO = ("operator", "country", "rat", "signal_quality")
NEEDS = (*WHO, "download_kbps", "upload_kbps", "latency_ms_avg", "latency_ms_stdev")


class Errant:
    """A row of it: means."""

    name = "errant"
    title = "ERRANT: profiles.csv, a network's means; choose with --where operator=telia …"
    reads = (
        "download_kbps → down_mbps, upload_kbps → up_mbps, latency_ms_avg → rtt_ms and "
        "latency_ms_stdev how it is drawn"
    )
    empty = "anything over time, loss; distributions, which are pickles and are not opened"
    licence = "GPLv3, as its repository says"

    def matches(self, file: File) -> bool:
        return set(NEEDS) <= set(file.columns)

    def read(self, file: File, options: Options) -> list[Recording]:
        found: list[tuple[int, table.Row]] = list(table.rows(file, NEEDS, options))
        if len(found) != 1:
            chosen = "no profile is" if not found else f"{len(found)} profiles are"
            raise ValueError(
                f"{chosen} chosen: name one by --where operator=telia --where "
                "country=sweden --where rat=4G "
                "--where signal_quality=good",
                found[1][0] if found else 1,
            )
        line, row = found[0]
        try:
            down, up, rtt, deviation = (table.number(row, name) for name in NEEDS[len(WHO) :])
            if min(down, up, rtt) <= 0 or deviation < 0:
                raise ValueError("rates and latency must be above 0: mend the line")
        except ValueError as error:
            raise ValueError(str(error), line) from error
        return [
            Recording(
                name=f"{row['operator']}-{row['rat']}",
                figures={
                    "down_mbps": Figure(down / 1e3, 0, 1),
                    "up_mbps": Figure(up / 1e3, 0, 1),
                    "rtt_ms": Figure(rtt, deviation / rtt, 1),
                },
                rates="the mean of speed tests over TCP, which is not capacity",
                notes=[f"the profile {' '.join(row[name] for name in WHO)}"],
            )
        ]


FORMAT = Errant()
