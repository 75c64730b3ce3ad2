"""The JSON of iperf3: ``-J`` of client or server, and ``--json-stream`` (iperf 3.17 or newer)."""

from __future__ import annotations

import re
from typing import Any

from mptcplab.recordings.iperf3 import CUT, EVENT, tests
from mptcplab.sources.contents import SECOND, Connection, Contents, Row
from mptcplab.sources.file import File
from mptcplab.sources.iperf import say_not_arrived, say_rough

Json = dict[str, Any]

VERSION = re.compile(r'"version":\s*"iperf 3')
# IPv4 or IPv6, TCP with timestamps or without.
HEADERS = (52, 72, 40, 60)


class Iperf3:
    """Tests, a connection per stream."""

    name = "iperf3"
    title = "JSON of a client or a server (-J, --json-stream), also several tests"
    reads = (
        "start.connected → connections; intervals → throughput, of the sender also state: smoothed "
        "RTT and its deviation, congestion window, retransmissions, peer's window; end → transfers "
        "and flows; of UDP lost_packets"
    )
    empty = "round-trip times of single segments, out-of-order delay, whether sockets spoke MPTCP"

    def matches(self, file: File) -> bool:
        """Say whether it is of a version of iperf3."""
        head = file.head.lstrip()
        return head.startswith(EVENT) or (head.startswith("{") and VERSION.search(head) is not None)

    def read(self, file: File) -> Contents:
        contents = Contents(self.name, file)
        faults = []
        for test in tests(file.text()):
            if CUT in test:
                contents.complete = False
                contents.remark("file_cut", "the last line is cut off; what is before it was read")
            fault = test.get("error")
            if test.get("start", {}).get("connected") and test.get("intervals"):
                _Test(contents, test).add()
                if fault:
                    contents.remark("tool_error", f"iperf3 says: {fault}")
            faults.append(fault or "no interval was measured")
        if not contents.tables.get("connections"):
            raise ValueError(f"iperf3 says: {faults[0]}" if faults else "holds no test of iperf3")
        say_rough(
            contents,
            "the beginning of a test in whole seconds, and before its streams are open",
        )
        return contents


class _Test:
    """One test."""

    def __init__(self, contents: Contents, test: Json) -> None:
        self._contents = contents
        self._start = test["start"]
        self._end = test.get("end") or {}
        self._intervals = test["intervals"]
        self._failed = "error" in test
        self._setup = self._start["test_start"]
        self._is_client = "accepted_connection" not in self._start
        self._is_udp = self._setup["protocol"].upper() == "UDP"
        stamp = self._start["timestamp"]
        self._began_ns = round(stamp.get("timemillisecs", stamp["timesecs"] * 1000)) * 10**6

    def add(self) -> None:
        """Add the connection of every stream."""
        ends = {
            one["udp" if self._is_udp else "sender"]["socket"]: one
            for one in self._end.get("streams", [])
        }
        for stream in self._start["connected"]:
            found = [
                one
                for each in self._intervals
                for one in each["streams"]
                if one["socket"] == stream["socket"]
            ]
            counted = [one for one in found if not one.get("omitted")]
            if counted:
                self._add(stream, counted, ends.get(stream["socket"], {}))
        if any(one["sum"].get("omitted") for one in self._intervals if "sum" in one):
            self._contents.remark("omitted", "what iperf3 omitted (-O) is not counted")

    def _add(self, stream: Json, intervals: list[Json], end: Json) -> None:
        near, far = (
            (stream[f"{side}_host"], stream[f"{side}_port"]) for side in ("local", "remote")
        )
        client, server = (near, far) if self._is_client else (far, near)
        sends = bool(intervals[0]["sender"])
        direction = "up" if sends == self._is_client else "down"
        moved, elapsed_s = self._moved(intervals, end, sends)
        connection = self._contents.connection(
            "udp" if self._is_udp else "tcp",
            start_ns=self._began_ns,
            end_ns=self._began_ns + round(max(intervals[-1]["end"], elapsed_s) * SECOND),
            client=client,
            server=server,
            began="unknown" if self._is_udp else "handshake",
            ended="open" if self._failed or not self._end else "closed",
            vantage="client" if self._is_client else "server",
        )
        subflow = connection.subflow()
        bins = [
            (
                self._began_ns + round(one["start"] * SECOND),
                round((one["end"] - one["start"]) * SECOND),
                one["bytes"],
            )
            for one in intervals
        ]
        connection.moved(direction, {subflow: moved}, elapsed_s=elapsed_s)
        for each in (None, subflow):
            connection.bins(direction, bins, each)
        if sends:
            self._add_state(connection, intervals)
            say_not_arrived(self._contents, connection, is_known=self._known(end))

    def _known(self, end: Json) -> bool:
        """Say whether a sender was told what the receiver got."""
        if self._is_udp:
            return "udp" in end and not self._failed
        return bool(end.get("receiver", {}).get("bytes"))

    def _moved(self, intervals: list[Json], end: Json, sends: bool) -> tuple[Row, float]:
        """Give the columns of ``flows``, and how long it took."""
        row: Row = {"bytes": sum(one["bytes"] for one in intervals)}
        elapsed_s = float(intervals[-1]["end"])
        if self._is_udp:
            if sends and not self._known(end):
                return row | {"data_packets": sum(one["packets"] for one in intervals)}, elapsed_s
            total = end.get("udp") or {}
            packets = total.get("packets", sum(one["packets"] for one in intervals))
            lost = total.get("lost_packets", sum(one.get("lost_packets", 0) for one in intervals))
            if sends:
                row["bytes"] = (packets - lost) * self._setup["blksize"]
            return row | {"data_packets": packets, "lost_packets": lost}, elapsed_s
        receiver = end.get("receiver", {})
        if self._known(end):
            row["bytes"] = receiver["bytes"]
            elapsed_s = receiver["end"] - receiver["start"]
        again = end.get("sender", {}).get("retransmits")
        if again is not None and (sends or self._is_client) and not (self._failed and not sends):
            row["retransmitted_packets"] = again
        return row, elapsed_s

    def _add_state(self, connection: Connection, intervals: list[Json]) -> None:
        """Add what the sender's kernel said at the end of each interval."""
        if "snd_cwnd" not in intervals[0]:
            return
        mss = self._mss([one["snd_cwnd"] for one in intervals], intervals[0].get("pmtu", 0))
        again = 0
        for one in intervals:
            again += one.get("retransmits", 0)
            connection.add(
                "state",
                subflow=0,
                host="client" if self._is_client else "server",
                at_ns=self._began_ns + round(one["end"] * SECOND),
                cwnd_packets=one["snd_cwnd"] // mss if mss else None,
                srtt_ms=one["rtt"] / 1000,
                rttvar_ms=one["rttvar"] / 1000 if "rttvar" in one else None,
                retransmitted_packets=again,
                peer_window_bytes=one.get("snd_wnd"),
                congestion_control=self._end.get("sender_tcp_congestion"),
            )

    def _mss(self, windows: list[int], pmtu: int) -> int | None:
        """Give the segment size: iperf3's window is a number of segments times it."""
        sizes = [self._start.get("tcp_mss_default", 0), *(pmtu - headers for headers in HEADERS)]
        return next(
            (size for size in sizes if size > 0 and not any(one % size for one in windows)), None
        )


SOURCE = Iperf3()
