"""WetLinks (Laniewski et al., 2024): Starlink dishes, tests of seconds each few minutes, as CSV."""

from __future__ import annotations

from mptcplab.recordings import table
from mptcplab.recordings.figures import figure
from mptcplab.recordings.file import File, Options
from mptcplab.recordings.recording import Recording

SITE = "site_name"
RATES = {"download": "down_mbps", "upload": "up_mbps"}
MBPS = 1e-6
PING, LOSS = "ping_avg", "packet_loss"


class WetLinks:
    """The tests of a site: rates, or pings."""

    name = "wetlinks"
    title = "WetLinks: CSV of tests over Starlink; choose with --where site_name=…"
    reads = (
        "download, upload → means of down_mbps, up_mbps; ping_avg → that of rtt_ms; "
        "packet_loss → that of lost; and how they are drawn"
    )
    empty = "anything over time within a test, radio, weather"
    licence = "CC BY-SA 4.0, as the data set says: what is made of it stands under it, too"

    def matches(self, file: File) -> bool:
        """Say whether the columns are those of throughput or of pings."""
        names = set(file.columns)
        return SITE in names and ({"download", "upload"} <= names or PING in names)

    def read(self, file: File, options: Options) -> list[Recording]:
        sites: set[str] = set()
        found: dict[str, list[float]] = {}
        known = {
            **{name: (becomes, MBPS) for name, becomes in RATES.items()},
            PING: ("rtt_ms", 1.0),
            LOSS: ("lost", 0.01),
        }
        for line, row in table.rows(file, (SITE,), options):
            sites.add(row[SITE])
            if len(sites) > 1:
                raise ValueError(
                    f"another site begins: choose one, as by --where site_name={row[SITE]}", line
                )
            for name, (becomes, factor) in known.items():
                if row.get(name, "") in table.MISSING:
                    continue
                try:
                    value = table.number(row, name) * factor
                    if value < 0:
                        raise ValueError(f"{name} is {row[name]}: it must be 0 or more, or empty")
                except ValueError as error:
                    raise ValueError(str(error), line) from error
                found.setdefault(becomes, []).append(value)
        if not found:
            raise ValueError("no row counts: there is nothing to make a link of", 1)
        return [
            Recording(
                name=sites.pop(),
                figures={name: figure(values) for name, values in found.items()},
                rates=(
                    "iperf3 of one protocol (see transport_protocol; --where chooses "
                    "it): of TCP it is not capacity"
                ),
            )
        ]


FORMAT = WetLinks()
