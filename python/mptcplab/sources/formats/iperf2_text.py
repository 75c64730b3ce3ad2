"""The text of iperf 2, of a client or a server, plain or enhanced (-e)."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from mptcplab.sources.contents import SECOND, Connection, Contents
from mptcplab.sources.file import File
from mptcplab.sources.iperf import Interval, Stream, count, say_rough, say_rounded

LISTENING = re.compile(r"Server listening on (TCP|UDP) port (\d+)")
CONNECTING = re.compile(r"Client connecting to .*, (TCP|UDP) port \d+")
ENDS = re.compile(r"\[ *(\*?\d+)\] local (\S+) port (\d+) connected with (\S+) port (\d+)(.*)$")
HANDSHAKE = re.compile(r"/mss/irtt=\d+/(\d+)/(\d+)\)")
# Enhanced lines say it, in the zone of the host.
STARTED = re.compile(r" on (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) \((\w+)\)")
# Others, such as histograms and datagrams out of order, have no transfer.
LINE = re.compile(r"\[ *\*?\d+\] +[\d.]+ *- *[\d.]+ +sec +[\d.]+ [KMGT]?Byte")
ROW = re.compile(
    r"\[ *(?P<star>\*?)(?P<id>\d+)\] +(?P<start>[\d.]+) *- *(?P<end>[\d.]+) +sec +"
    r"(?P<size>[\d.]+) (?P<prefix>[KMGT]?)Bytes? +[\d.]+ [KMGTkmgt]?(?:bits|Bytes?)/sec"
    r"(?: +[\d.-]+ ms +(?P<lost>-?\d+)/ *(?P<total>\d+)\b"
    r"| +\d+/\d+ +(?P<again>\d+) +(?P<cwnd>\d+)K/(?P<rtt>\d+)(?:\((?P<var>\d+)\))? us\b|\s|$)"
)
SENT = re.compile(r"\[ *(\d+)\] Sent (\d+) datagrams")
REPORT = re.compile(r"\[ *(\d+)\] Server Report:")
FAILED = re.compile(r"(?:connect failed|read failed|write failed|bind failed): .*$")


class Iperf2Text:
    """Tests, a connection per stream."""

    name = "iperf2-text"
    title = "text of iperf 2, of a client or a server, plain or enhanced (-e), also --full-duplex"
    reads = (
        "connected with → connections, irtt → handshake; lines → throughput, transfers and flows; "
        "of a TCP sender with -e Rtry, Cwnd and RTT → state; of UDP lost_packets, at the sender "
        "from its server report"
    )
    empty = (
        "times of a clock without -e, latencies, jitter, round-trip times of segments; bytes have "
        "three digits"
    )

    def matches(self, file: File) -> bool:
        """Say whether a client's or a server's first lines are there."""
        return any(
            LISTENING.match(line) or CONNECTING.match(line) for line in file.head.splitlines()[:50]
        )

    def read(self, file: File) -> Contents:
        log = _Log(Contents("iperf2", file))
        lines = file.text().splitlines(keepends=True)
        for number, line in enumerate(lines, 1):
            is_cut = number == len(lines) and not line.endswith("\n") and line.startswith("[")
            if is_cut and not ROW.match(line):
                log.contents.cut()
                break
            if LINE.match(line) and not ROW.match(line.rstrip()):
                raise ValueError(f"{line[:60].rstrip()!r} is no interval of iperf 2", number)
            log.line(line.rstrip(), number)
        return log.finish()


class _Log:
    """What stands in a log: streams by the numbers that it calls them, and by direction."""

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self._port: int | None = None
        self._is_udp = False
        self._streams: dict[str, dict[str, Stream]] = {}
        #: By which direction the lines without a star go.
        self._plain: dict[str, str] = {}
        self._reports: set[str] = set()
        self._faults: list[str] = []

    def line(self, text: str, number: int) -> None:
        if found := LISTENING.match(text):
            self._is_udp, self._port = found[1] == "UDP", int(found[2])
        elif found := CONNECTING.match(text):
            self._is_udp = found[1] == "UDP"
        elif found := ENDS.match(text):
            self._connected(found)
        elif found := ROW.match(text):
            self._row(found, number)
        elif (found := SENT.match(text)) and found[1] in self._streams:
            for stream in self._streams[found[1]].values():
                if stream.sent:
                    stream.sent.packets = int(found[2])
        elif found := REPORT.match(text):
            self._reports.add(found[1])
        elif found := FAILED.search(text):
            self._faults.append(found[0])

    def _connected(self, found: re.Match[str]) -> None:
        name, rest = found[1], found[6]
        self._add(name)
        near = (found[2].partition("%")[0], int(found[3]))
        far = (found[4].partition("%")[0], int(found[5]))
        is_server = near[1] == self._port
        client, server = (far, near) if is_server else (near, far)
        # A server's lines have a star only where both send.
        self._plain[name] = "down" if is_server and "(reverse)" in rest else "up"
        handshake, started = HANDSHAKE.search(rest), STARTED.search(rest)
        is_timed = started is not None and started[2] in ("UTC", "GMT")
        self.contents.has_clock &= is_timed
        streams = self._streams[name] = {}
        for direction in ("up", "down"):
            streams[direction] = Stream(
                client=client,
                server=server,
                vantage="server" if is_server else "client",
                direction=direction,
                sends=(direction == "down") == is_server,
                is_udp=self._is_udp,
                began_ns=_nanoseconds(started[1]) if started and is_timed else 0,
                mss_bytes=int(handshake[1]) if handshake else None,
                handshake_ms=int(handshake[2]) / 1000 if handshake else None,
            )

    def _row(self, row: re.Match[str], line: int) -> None:
        # With -d a server is a client, too: then the star is part of the name.
        own = row["star"] + row["id"]
        name = own if own in self._streams else row["id"]
        if name not in self._streams:
            raise ValueError(f"has no line before it that says what stream {own} is", line)
        is_other = name != own
        direction = self._plain[name]
        if is_other:
            direction = "up" if direction == "down" else "down"
        stream = self._streams[name][direction]
        one = Interval(float(row["start"]), float(row["end"]), count(row["size"], row["prefix"]))
        if row["total"]:
            one.packets, one.lost = int(row["total"]), max(0, int(row["lost"]))
        if row["again"]:
            one.retransmitted = int(row["again"])
            one.cwnd_bytes = count(row["cwnd"], "K")
            one.srtt_ms = int(row["rtt"]) / 1000
            one.rttvar_ms = int(row["var"]) / 1000 if row["var"] else None
        if name in self._reports:
            stream.arrived = one
        elif one.start_s > 0 or not stream.intervals:
            stream.intervals.append(one)
        elif stream.sends:
            stream.sent = one
        else:
            stream.arrived = one

    def _add(self, name: str) -> None:
        """Add the streams of a name, if any are open."""
        connection: Connection | None = None
        streams = self._streams.pop(name, {}).values()
        for stream in streams:
            _take_total(stream)
        # The one that took longest says how long the connection was.
        for stream in sorted(streams, key=lambda one: -one.end_s):
            connection = stream.add(self.contents, connection)
        self._reports.discard(name)

    def finish(self) -> Contents:
        for name in list(self._streams):
            self._add(name)
        contents = self.contents
        if not contents.tables.get("connections"):
            raise ValueError(
                f"iperf says: {self._faults[0]}" if self._faults else "holds no interval of iperf 2"
            )
        for fault in self._faults:
            contents.remark("tool_error", f"iperf says: {fault}")
        if contents.has_clock:
            say_rough(contents, "the beginning of a test in whole seconds")
        say_rounded(contents)
        return contents


def _take_total(stream: Stream) -> None:
    """Take a single line, as iperf prints it without -i, for the whole."""
    if len(stream.intervals) == 1 and not (stream.sent or stream.arrived):
        (total,) = stream.intervals
        stream.sent, stream.arrived = (total, None) if stream.sends else (None, total)


def _nanoseconds(text: str) -> int:
    moment = datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    return int(moment.timestamp()) * SECOND


SOURCE = Iperf2Text()
