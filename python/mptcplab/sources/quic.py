"""A QUIC connection as one of its ends logged it: packets and frames → rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from mptcplab.sources.contents import SECOND, Connection, Row
from mptcplab.sources.figures import spread
from mptcplab.sources.ranges import Ranges

Json = dict[str, Any]
# Stream, offset, and the offset of what follows.
Data = tuple[int, int, int]

# RFC 9000 section 14: what every path takes.
LEAST_DATAGRAM = 1200
# The fewest bins that make a curve, and lengths of bins in nanoseconds.
FEW = 20
WIDTHS_NS = (SECOND // 100, SECOND // 50, SECOND // 20, SECOND // 10, SECOND // 5, SECOND // 2)
DELAYS = ("mean", "sigma", "median", "p90", "p95", "p99", "max")
RTTS = ("mean", "sigma", "min", "median", "p90", "p95", "p99", "max")


@dataclass
class Flow:
    """What one direction of one path carried."""

    packets: int = 0
    data_packets: int = 0
    data_bytes: int = 0
    again_packets: int = 0
    again_bytes: int = 0
    #: When new bytes were known to have arrived, and how many.
    arrived: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Waiting:
    """Data that arrived over a path before earlier data of its stream."""

    at_ns: int
    path: int
    record: int
    end: int
    bytes: int
    offset: int


class Streams:
    """The streams of one direction: what arrived, when it was in order, how late."""

    def __init__(self) -> None:
        self._ranges: dict[int, Ranges] = defaultdict(Ranges)
        self._waiting: dict[int, list[Waiting]] = defaultdict(list)
        self._count = 0
        #: Rows of ``reordering``.
        self.delayed: list[tuple[Waiting, float]] = []
        #: When bytes were in order, and how many.
        self.ordered: list[tuple[int, int]] = []

    def add(self, data: Data, at_ns: int, path: int, record: int) -> int:
        """Add data that arrived, and give how many bytes are new."""
        stream, start, end = data
        ranges = self._ranges[stream]
        before = ranges.in_order
        new = ranges.add(start, end)
        if new:
            self._waiting[stream].append(Waiting(at_ns, path, record, end, new, self._count))
            self._count += new
        if ranges.in_order > before:
            self.ordered.append((at_ns, ranges.in_order - before))
            due = [one for one in self._waiting[stream] if one.end <= ranges.in_order]
            self._waiting[stream] = [
                one for one in self._waiting[stream] if one.end > ranges.in_order
            ]
            self.delayed += [(one, (at_ns - one.at_ns) / 1e6) for one in due]
        return new

    @property
    def bytes(self) -> int:
        """Bytes that are in order."""
        return sum(ranges.in_order for ranges in self._ranges.values())


class Endpoint:
    """What an end sent, received and knew."""

    def __init__(self, vantage: str) -> None:
        self.vantage = vantage
        self.sends = "up" if vantage == "client" else "down"
        self.receives = "down" if vantage == "client" else "up"
        self.flows: dict[tuple[int, str], Flow] = defaultdict(Flow)
        self.streams = {self.sends: Streams(), self.receives: Streams()}
        self.samples: list[tuple[str, Row]] = []
        self._sent: dict[int, Ranges] = defaultdict(Ranges)
        self._known: dict[int, Json] = defaultdict(dict)
        #: Sent and not acknowledged, by path, kind of packet, and number.
        self._open: dict[tuple[int, str], dict[int, list[Data]]] = defaultdict(dict)
        self._lost: dict[int, set[tuple[str, int]]] = defaultdict(set)
        self._datagram = LEAST_DATAGRAM

    def sent(self, path: int, packet: Packet) -> None:
        """Count a packet that left."""
        flow = self.flows[path, self.sends]
        flow.packets += 1
        self._datagram = max(self._datagram, packet.length)
        if packet.number is not None:
            self._open[path, packet.kind][packet.number] = packet.data
        if not packet.data:
            return
        new = sum(self._sent[stream].add(start, end) for stream, start, end in packet.data)
        flow.data_packets += 1
        flow.data_bytes += packet.bytes
        flow.again_packets += new < packet.bytes
        flow.again_bytes += packet.bytes - new

    def received(self, path: int, packet: Packet) -> None:
        """Count a packet that came, with what it acknowledges."""
        flow = self.flows[path, self.receives]
        flow.packets += 1
        for data in packet.data:
            self._arrived(flow, self.receives, data, (packet.at_ns, path, packet.record))
        if packet.data:
            flow.data_packets += 1
            flow.data_bytes += packet.bytes
        for of_path, first, last in packet.acked:
            self._acknowledge(path if of_path is None else of_path, packet, first, last)

    def _acknowledge(self, path: int, packet: Packet, first: int, last: int) -> None:
        unknown = self._open[path, packet.kind]
        # Packets are numbered as they are sent.
        for number in [one for one in takewhile(last.__ge__, unknown) if one >= first]:
            self._lost[path].discard((packet.kind, number))
            for data in unknown.pop(number):
                flow = self.flows[path, self.sends]
                self._arrived(flow, self.sends, data, (packet.at_ns, path, packet.record))

    def _arrived(self, flow: Flow, direction: str, data: Data, where: tuple[int, int, int]) -> None:
        if new := self.streams[direction].add(data, *where):
            flow.arrived.append((where[0], new))

    def lost(
        self, path: int, at_ns: int, record: int, packet: tuple[str, int | None], why: str
    ) -> None:
        """Take a packet for lost, as the end does."""
        kind, number = packet
        if number is not None:
            self._lost[path].add((kind, number))
        row: Row = {"subflow": path, "at_ns": at_ns, "record": record, "direction": self.sends}
        self.samples.append(("events", row | {"event": "declared_lost", "detail": why or None}))

    def metrics(self, path: int, at_ns: int, record: int, values: Json) -> None:
        """Note what the end's recovery says; what it leaves out is as before."""
        known = self._known[path]
        # Some repeat it in every event.
        is_sample = values.get("latest_rtt") not in (None, 0, known.get("latest_rtt"))
        known.update(values)
        where: Row = {"subflow": path, "at_ns": at_ns}
        row: Row = {
            "host": self.vantage,
            "srtt_ms": known.get("smoothed_rtt"),
            "rttvar_ms": known.get("rtt_variance"),
            "min_rtt_ms": known.get("min_rtt"),
            "in_flight_packets": known.get("packets_in_flight"),
        }
        for key, column in (("cwnd", "cwnd_packets"), ("ssthresh", "ssthresh_packets")):
            value = known.get(key)
            # "Infinite" before the first loss.
            if value is not None and value < 1 << 40:
                row[column] = round(value / self._datagram)
        if known.get("pacing_rate") is not None:
            row["pacing_mbps"] = known["pacing_rate"] / 1e6
        self.samples.append(("state", where | row))
        own = where | {"direction": self.sends, "record": record}
        if is_sample:
            self.samples.append(("rtt", own | {"rtt_ms": values["latest_rtt"]}))
        if values.get("bytes_in_flight") is not None:
            self.samples.append(("window", own | {"in_flight_bytes": values["bytes_in_flight"]}))

    def add_to(self, connection: Connection, paths: list[int]) -> None:
        """Add the rows of all paths."""
        for table, row in self.samples:
            connection.add(table, **row)
        for direction in (self.sends, self.receives):
            self._add_direction(connection, direction, paths)

    def _add_direction(self, connection: Connection, direction: str, paths: list[int]) -> None:
        streams = self.streams[direction]
        if not streams.bytes:
            return
        delivered = Counter(
            {path: sum(n for _, n in self._arrived_over(path, direction)) for path in paths}
        )
        flows = {path: self._row(path, direction, delivered[path]) for path in paths}
        last_ns = max(at for at, _ in streams.ordered)
        late: Row = {}
        if direction == self.receives:
            delays = [delay for _, delay in streams.delayed]
            late = spread("out_of_order_delay_ms", delays, *DELAYS)
            late |= {
                "reordering_segments": len(delays),
                "out_of_order_segments": sum(delay > 0 for delay in delays),
            }
            for one, delay in streams.delayed:
                connection.add(
                    "reordering",
                    subflow=one.path,
                    direction=direction,
                    at_ns=one.at_ns,
                    data_offset_bytes=one.offset,
                    bytes=one.bytes,
                    out_of_order_delay_ms=delay,
                    record=one.record,
                )
        elapsed_s = (last_ns - connection.start_ns) / SECOND
        connection.moved(direction, flows, elapsed_s=elapsed_s, **(late | {"bytes": streams.bytes}))
        connection.bins(direction, binned(connection, streams.ordered), None)
        for path in paths:
            connection.bins(
                direction, binned(connection, self._arrived_over(path, direction)), path
            )

    def _arrived_over(self, path: int, direction: str) -> list[tuple[int, int]]:
        return self.flows[path, direction].arrived

    def _row(self, path: int, direction: str, delivered: int) -> Row:
        flow = self.flows[path, direction]
        row: Row = {
            "bytes": delivered,
            "packets": flow.packets,
            "data_packets": flow.data_packets,
            "data_bytes": flow.data_bytes,
        }
        if direction == self.sends:
            rtts = [
                each["rtt_ms"]
                for table, each in self.samples
                if table == "rtt" and each["subflow"] == path
            ]
            row |= {
                "retransmitted_packets": flow.again_packets,
                "retransmitted_bytes": flow.again_bytes,
                "lost_packets": len(self._lost[path]),
                "rtt_samples": len(rtts),
                **spread("rtt_ms", rtts, *RTTS),
            }
        return row


@dataclass
class Packet:
    """A packet in a log."""

    at_ns: int
    record: int
    #: Packet numbers count by kind: initial, handshake, and those with data.
    kind: str
    number: int | None
    length: int
    data: list[Data]
    #: Path (None: that of the packet), first and last number.
    acked: list[tuple[int | None, int, int]]

    @property
    def bytes(self) -> int:
        """Bytes of streams in it."""
        return sum(end - start for _, start, end in self.data)


def binned(connection: Connection, arrived: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Count bytes in bins of a second, shorter ones where the connection was short."""
    length_ns = max(connection.end_ns - connection.start_ns, 1)
    width = max((one for one in WIDTHS_NS if one <= length_ns / FEW), default=WIDTHS_NS[0])
    width = SECOND if length_ns >= FEW * SECOND else width
    counted = Counter[int]()
    for at_ns, count in arrived:
        counted[(at_ns - connection.start_ns) // width] += count
    if not counted:
        return []
    return [
        (connection.start_ns + number * width, width, counted[number])
        for number in range((length_ns - 1) // width + 1)
    ]


__all__ = ["Endpoint", "Packet"]
