"""The text of iperf3, of a client or a server, as it stands on the terminal."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from mptcplab.sources.contents import SECOND, Contents
from mptcplab.sources.file import File
from mptcplab.sources.iperf import Interval, Stream, count, say_rough, say_rounded

# --timestamps puts a time before each line, in any format.
TEST = re.compile(r"(Connecting to host|Accepted connection from) \S+, port \d+$")
LISTENING = re.compile(r"Server listening on \d+")
ERROR = re.compile(r"iperf3: (?:error|interrupt) - (.*)$")
STARTED = re.compile(r"Time: (\w{3}, \d+ \w{3} \d{4} [\d:]{8}) (?:GMT|UTC)$")
MSS = re.compile(r"(?:Control connection MSS|TCP MSS:) (\d+)")
ENDS = re.compile(r"\[ *(\d+)\] local (\S+) port (\d+) connected to (\S+) port (\d+)$")
HEAD = re.compile(r"\[ ID\](?:\[Role\])? Interval ")
LINE = re.compile(r"\[ *\d+\](?:\[[TR]X-[CS]\])? +[\d.]+-")
ROW = re.compile(
    r"\[ *(?P<id>\d+)\](?:\[(?P<role>[TR]X)-[CS]\])? +(?P<start>[\d.]+)-(?P<end>[\d.]+) +sec +"
    r"(?P<size>[\d.]+) (?P<prefix>[KMGT]?)Bytes +[\d.]+ [KMGT]?(?:bits|Bytes)/sec *"
    r"(?:[\d.e+-]+ ms +(?P<lost>-?\d+)/(?P<total>\d+) \(\S+\)|(?P<number>\d+)"
    r"(?: +(?P<cwnd>[\d.]+) (?P<cwnd_prefix>[KMGT]?)Bytes)?)? *"
    r"(?P<side>sender|receiver)? *(?P<omitted>\(omitted\))?\s*$"
)


class Iperf3Text:
    """Tests, a connection per stream."""

    name = "iperf3-text"
    title = "text of iperf3, of a client or a server, also several tests"
    reads = (
        "connected → connections; lines of intervals → throughput, Retr and Cwnd (with -V, which "
        "tells the MSS) → state; lines of sender and receiver → transfers and flows; of UDP "
        "lost_packets"
    )
    empty = (
        "times of a clock without -V, round-trip times (JSON has smoothed ones); bytes have three "
        "digits"
    )

    def matches(self, file: File) -> bool:
        """Say whether a client's or a server's first lines are there."""
        return any(
            TEST.search(line) or LISTENING.match(line) for line in file.head.splitlines()[:50]
        )

    def read(self, file: File) -> Contents:
        contents = Contents("iperf3", file)
        test, faults, omitted, began_ns, mss = _Test(is_client=True), [], False, None, None
        lines = file.text().splitlines(keepends=True)
        for number, line in enumerate(lines, 1):
            text = line.rstrip()
            if row := ROW.search(text):
                omitted |= row["omitted"] is not None
                test.row(row, number)
            elif LINE.search(text):
                if number == len(lines) and not line.endswith("\n"):
                    contents.cut()
                    break
                raise ValueError(f"{text[:60]!r} is no interval as iperf3 prints it", number)
            elif found := TEST.search(text):
                test.add(contents)
                test = _Test(is_client=found[1].startswith("Connecting"))
            elif found := ENDS.search(text):
                test.connected(found, began_ns or 0, mss)
            elif HEAD.search(text):
                test.head = text
            elif "Reverse mode, remote host" in text:
                test.is_reverse = True
            elif found := STARTED.search(text):
                moment = datetime.strptime(found[1], "%a, %d %b %Y %H:%M:%S").replace(tzinfo=UTC)
                began_ns = int(moment.timestamp()) * SECOND
            elif found := MSS.search(text):
                mss = int(found[1])
            elif found := ERROR.search(text):
                faults.append(found[1])
        test.add(contents)
        if not contents.tables.get("connections"):
            raise ValueError(
                f"iperf3 says: {faults[0]}" if faults else "holds no interval of a test of iperf3"
            )
        contents.has_clock = began_ns is not None
        for fault in faults:
            contents.remark("tool_error", f"iperf3 says: {fault}")
        if omitted:
            contents.remark("omitted", "what iperf3 omitted (-O) is not counted")
        if contents.has_clock:
            say_rough(
                contents,
                "the beginning of a test in whole seconds, and before its streams are open",
            )
        say_rounded(contents)
        return contents


class _Test:
    """One test: its streams by the numbers that it calls them."""

    def __init__(self, *, is_client: bool) -> None:
        self.is_client = is_client
        self.is_reverse = False
        #: The latest line of titles.
        self.head = ""
        self._streams: dict[str, Stream] = {}

    def connected(self, found: re.Match[str], began_ns: int, mss: int | None) -> None:
        near = (found[2].partition("%")[0], int(found[3]))
        far = (found[4].partition("%")[0], int(found[5]))
        self._streams[found[1]] = Stream(
            client=near if self.is_client else far,
            server=far if self.is_client else near,
            vantage="client" if self.is_client else "server",
            began_ns=began_ns,
            mss_bytes=mss,
        )

    def row(self, row: re.Match[str], line: int) -> None:
        if row["id"] not in self._streams:
            raise ValueError(f"has no line before it that says what stream {row['id']} is", line)
        stream = self._streams[row["id"]]
        stream.is_udp |= "Datagrams" in self.head
        one = Interval(float(row["start"]), float(row["end"]), count(row["size"], row["prefix"]))
        if row["total"]:
            one.packets, one.lost = int(row["total"]), max(0, int(row["lost"]))
        elif row["number"] and stream.is_udp:
            one.packets = int(row["number"])
        elif row["number"]:
            one.retransmitted = int(row["number"])
        if row["cwnd"]:
            one.cwnd_bytes = count(row["cwnd"], row["cwnd_prefix"])
        if row["side"] == "sender":
            stream.sent = one
        elif row["side"] == "receiver":
            stream.arrived = one
        elif not row["omitted"]:
            stream.intervals.append(one)
        if row["role"]:
            stream.sends = row["role"] == "TX"
        elif stream.sends is None:
            stream.sends = self._sends(row["side"])

    def _sends(self, side: str | None) -> bool:
        """Tell who sends: a server's titles show it, or without intervals its only total."""
        if self.is_client:
            return not self.is_reverse
        titles = "Retr" in self.head or "Total Datagrams" in self.head
        return side == "sender" or (titles and "Jitter" not in self.head)

    def add(self, contents: Contents) -> None:
        for stream in self._streams.values():
            stream.direction = "up" if bool(stream.sends) == self.is_client else "down"
            stream.add(contents)


SOURCE = Iperf3Text()
