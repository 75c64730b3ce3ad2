"""The CSV of iperf 2 (``-y C``), with ``-e`` or without: a line per interval."""

from __future__ import annotations

import re
from datetime import datetime

from mptcplab.sources.contents import SECOND, UNKNOWN_END, Connection, Contents, End
from mptcplab.sources.file import File
from mptcplab.sources.iperf import Interval, Stream, say_rough

Key = tuple[frozenset[End], str]

TITLES = "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed"
# 20261127090334 of the host, with -e .376, from 2.1.9 on after its zone.
MOMENT = re.compile(r"(?:([+-]\d{4}):)?(\d{14})(\.\d+)?$")
FIRST = re.compile(r"(?:[+-]\d{4}:)?\d{14}(?:\.\d+)?,[^,]*,\d+,[^,]*,\d+,-?\d+,[\d.]+-[\d.]+,\d+,")
DATAGRAMS = ("jitter", "errors", "datagrams", "errpercent", "outoforder")
COLUMNS = TITLES.split(",")
#: What the kernel does not say.
UNKNOWN = ("-1", "4294967295")


class Iperf2Csv:
    """Tests, a connection per stream."""

    name = "iperf2-csv"
    title = "CSV of iperf 2.1 or newer (-y C, with -e or without), of a client or a server"
    reads = (
        "source and destination → connections (the client is taken for the end with the larger "
        "port); lines → throughput, transfers and flows; of UDP at the receiver datagrams and "
        "errors; of version 2.2 with -e tcpretry, tcppcwnd, tcprtt and tcprttvar → state"
    )
    empty = "which end wrote it, where nothing shows it; the zone of its times before 2.1.9"

    def matches(self, file: File) -> bool:
        return file.head.startswith(TITLES) or FIRST.match(file.head) is not None

    def read(self, file: File) -> Contents:
        contents = Contents("iperf2", file)
        streams: dict[Key, dict[str, _Rows]] = {}
        zoned, titles = True, COLUMNS
        for number, line in contents.whole_lines(file):
            cells = line.strip().split(",")
            if cells[0] == "time":
                titles = cells
            if cells[0] in ("", "time"):
                continue
            if "-" in (cells[6:7] or [""])[0]:
                cells[6:7] = cells[6].split("-")
            if len(titles) == len(COLUMNS) and len(cells) == len(COLUMNS) + len(DATAGRAMS):
                row = dict(zip((*COLUMNS, *DATAGRAMS), cells, strict=True))
            else:
                row = dict(zip(titles, cells, strict=False))
            try:
                at_ns, has_zone = _nanoseconds(row["time"])
                zoned &= has_zone
                _add(streams, row, at_ns)
            except (KeyError, ValueError) as error:
                raise ValueError(
                    f"{line.strip()[:60]!r} is no line of iperf -y C, which has "
                    f"{', '.join(titles[:10])}",
                    number,
                ) from error
        for one in streams.values():
            connection: Connection | None = None
            for rows in sorted(one.values(), key=lambda rows: -rows.stream.end_s):
                rows.finish()
                connection = rows.stream.add(contents, connection)
        if not streams:
            raise ValueError("holds no line of a test", 1)
        if not zoned:
            contents.remark("supposed_clock", "its times have no zone, and are taken as UTC")
        say_rough(contents, "the end of each interval in whole seconds")
        return contents


class _Rows:
    """The lines of a direction of a connection."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self._totals: list[Interval] = []

    def add(self, one: Interval, at_ns: int) -> None:
        stream = self.stream
        if one.start_s > 0 or not stream.intervals:
            if not stream.intervals:
                stream.began_ns = at_ns - round(one.end_s * SECOND)
            stream.intervals.append(one)
        else:
            self._totals.append(one)

    def finish(self) -> None:
        """Tell by what only one end knows which it was, and take the totals."""
        stream, is_known = self.stream, False
        if stream.is_udp:
            # A sender knows of no jitter, and in its total of no datagrams.
            stream.sends = not any(one.lost is not None for one in stream.intervals)
            is_known = True
        elif any(one.retransmitted is not None for one in stream.intervals):
            stream.sends = is_known = True
        if is_known:
            stream.vantage = "client" if stream.sends == (stream.direction == "up") else "server"
        total = self._totals[-1] if self._totals else None
        if total is None and len(stream.intervals) == 1:
            (total,) = stream.intervals
        stream.sent, stream.arrived = (total, None) if stream.sends else (None, total)


def _add(streams: dict[Key, dict[str, _Rows]], row: dict[str, str], at_ns: int) -> None:
    """Put a line to its stream; sums of several have no number."""
    source = (row["srcaddress"], int(row["srcport"]))
    target = (row["dstaddr"], int(row["dstport"]))
    start_s, end_s, moved, rate = (float(row[one]) for one in ("istart", "iend", "bytes", "speed"))
    # Seconds have one digit behind the point; the rate is exact.
    one = Interval(start_s, start_s + 8 * moved / rate if rate else end_s, int(row["bytes"]))
    if row["transferid"] == "-1":
        return
    if "datagrams" in row:
        packets, is_received = int(row["datagrams"]), float(row["jitter"]) > 0
        one.packets = packets if packets >= 0 else None
        one.lost = int(row["errors"]) if is_received else None
    if "tcpretry" in row and row["tcpretry"] not in UNKNOWN:
        one.retransmitted = int(row["tcpretry"])
        one.cwnd_packets = int(row["tcppcwnd"]) if row["tcppcwnd"] not in UNKNOWN else None
        one.srtt_ms, one.rttvar_ms = int(row["tcprtt"]) / 1000, int(row["tcprttvar"]) / 1000
    direction = "up" if source[1] > target[1] else "down"
    rows = streams.setdefault((frozenset((source, target)), row["transferid"]), {})
    if direction not in rows:
        # Of what comes back with --full-duplex a client of 2.1 does not say the target.
        other: End = target if target[1] else UNKNOWN_END
        client, server = (source, other) if direction == "up" else (other, source)
        rows[direction] = _Rows(
            Stream(client=client, server=server, direction=direction, is_udp="datagrams" in row)
        )
    rows[direction].add(one, at_ns)


def _nanoseconds(text: str) -> tuple[int, bool]:
    found = MOMENT.match(text)
    if found is None:
        raise ValueError(text)
    zone, whole, part = found.groups()
    moment = datetime.strptime(f"{whole}{zone or '+0000'}", "%Y%m%d%H%M%S%z")
    return int(moment.timestamp()) * SECOND + round(float(part or 0) * SECOND), bool(zone)


SOURCE = Iperf2Csv()
