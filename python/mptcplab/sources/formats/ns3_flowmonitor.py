"""What ns-3's FlowMonitor says of flows: the sums, and the histograms, if it was told to."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from mptcplab.sources.contents import SECOND, Connection, Contents, Row
from mptcplab.sources.file import File

Found = tuple[Element, Element]

PROTOCOLS = {"6": "tcp", "17": "udp"}
# Bytes of a packet that are IP's and UDP's headers, by what stands in addresses of version 6.
UDP_HEADERS = {False: 28, True: 48}
# Packets no longer than IPv4 and TCP with all its options, on average, are acknowledgements.
BARE = 80


class Ns3FlowMonitor:
    """Flows, the two directions of one 5-tuple as a connection."""

    name = "ns3-flowmonitor"
    title = "XML of ns-3's FlowMonitor"
    reads = (
        "flows and their classifier → connections; txPackets, rxPackets, rxBytes → flows and "
        "transfers (of UDP less its headers); the histogram of delays → one-way delay, as exact "
        "as its bins"
    )
    empty = "anything over time, retransmissions, payload of TCP (bytes have headers), round trips"

    def matches(self, file: File) -> bool:
        """Say whether its element begins near the top."""
        return "<FlowMonitor>" in file.head[:1024]

    def read(self, file: File) -> Contents:
        contents = Contents("ns3", file, has_clock=False)
        try:
            root = ElementTree.fromstring(file.text())  # noqa: S314 - expat limits what entities become
        except ElementTree.ParseError as error:
            raise ValueError(
                f"is not complete XML ({error}): was the simulation interrupted?", error.position[0]
            ) from error
        stats = {one.attrib["flowId"]: one for one in root.iterfind("FlowStats/Flow")}
        found: dict[frozenset[tuple[str, ...]], list[Found]] = {}
        for kind in ("Ipv4FlowClassifier", "Ipv6FlowClassifier"):
            for flow in root.iterfind(f"{kind}/Flow"):
                ends = frozenset((_end(flow, "source"), _end(flow, "destination")))
                key = ends | {(flow.attrib["protocol"],)}
                if flow.attrib["flowId"] in stats:
                    found.setdefault(key, []).append((flow, stats[flow.attrib["flowId"]]))
        for flows in found.values():
            _add(contents, sorted(flows, key=lambda one: _ns(one[1], "timeFirstTxPacket")))
        if not found:
            raise ValueError("holds no flow: is the FlowMonitor installed on the hosts?", 1)
        return contents


def _add(contents: Contents, flows: list[Found]) -> None:
    """Add the connection of one 5-tuple; who sent first is its client."""
    (first, stats) = flows[0]
    ends = [(one[0], int(one[1])) for one in (_end(first, "source"), _end(first, "destination"))]
    start_ns = _ns(stats, "timeFirstTxPacket")
    protocol = PROTOCOLS.get(first.attrib["protocol"], "unknown")
    connection = contents.connection(
        protocol,
        start_ns=start_ns,
        # Of what never arrived, the last arrival is at 0.
        end_ns=max(
            start_ns,
            *(_ns(one, f"timeLast{end}Packet") for _, one in flows for end in ("Tx", "Rx")),
        ),
        client=ends[0],
        server=ends[1],
        began="unknown",
        ended="open",
        vantage="both",
    )
    connection.subflow(ended="open")
    for flow, one in flows:
        direction = "up" if _end(flow, "source") == _end(first, "source") else "down"
        _add_flow(connection, direction, one, is_six=":" in flow.attrib["sourceAddress"])
    if protocol == "tcp":
        contents.remark(
            "headers_counted",
            "FlowMonitor counts packets: bytes of TCP are with headers, and what was sent again",
            connection=connection.number,
        )


def _add_flow(connection: Connection, direction: str, stats: Element, *, is_six: bool) -> None:
    sent, arrived, count = (int(stats.attrib[one]) for one in ("txPackets", "rxPackets", "rxBytes"))
    is_udp = connection.row["protocol"] == "udp"
    if is_udp:
        count -= arrived * UDP_HEADERS[is_six]
    elif count <= arrived * BARE:
        return
    row: Row = {
        "bytes": count,
        "packets": sent,
        "data_packets": sent if is_udp else None,
        # FlowMonitor itself takes packets for lost ten seconds later.
        "lost_packets": sent - arrived,
        **_delays(stats),
    }
    elapsed_s = (_ns(stats, "timeLastRxPacket") - connection.start_ns) / SECOND
    connection.moved(direction, {0: row}, elapsed_s=elapsed_s if arrived else None)


def _delays(stats: Element) -> Row:
    """Give quantiles of the histogram: the middle of the bin in which each is."""
    bins = [one.attrib for one in stats.iterfind("delayHistogram/bin")]
    total = sum(int(one["count"]) for one in bins)
    row: Row = {}
    for name, part in (("median", 0.5), ("p95", 0.95)):
        below = 0
        for one in bins:
            below += int(one["count"])
            if below >= part * total:
                row[f"one_way_delay_ms_{name}"] = 1000 * (
                    float(one["start"]) + float(one["width"]) / 2
                )
                break
    return row


def _end(flow: Element, which: str) -> tuple[str, str]:
    return flow.attrib[f"{which}Address"], flow.attrib[f"{which}Port"]


def _ns(stats: Element, name: str) -> int:
    return round(float(stats.attrib[name].removesuffix("ns")))


SOURCE = Ns3FlowMonitor()
