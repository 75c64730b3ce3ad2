"""The ASCII trace of ns-3's point-to-point and CSMA devices: a line per packet and place."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable

from mptcplab.recordings.recording import LONGEST
from mptcplab.sources.contents import SECOND, Contents
from mptcplab.sources.file import File
from mptcplab.sources.packets import TCP, UDP, Packet, measure, tcp

# How it passed a node, where, and what it was.
Passed = tuple[str, str, Packet]

FIRST = re.compile(r"[+\-dr] [\d.e+-]+ (?:/NodeList/\d+/\S+ )?ns3::")
LINE = re.compile(r"([+\-dr]) ([\d.e+-]+) (?:/NodeList/(\d+)/\S+ )?(ns3::.*)$")
IPV4 = re.compile(
    r"ns3::Ipv4Header \(.*?(?:ECN (?P<ecn>CE|ECT \(\d\)|\S+) )?ttl (?P<ttl>\d+) id (?P<id>\d+) "
    r"protocol (?P<protocol>\d+) .*?length: (?P<length>\d+) (?P<source>[\d.]+) "
    r"> (?P<target>[\d.]+)\)"
)
IPV6 = re.compile(
    r"ns3::Ipv6Header \(.*?Payload Length (?P<length>\d+) Next Header (?P<protocol>\d+) "
    r"Hop Limit (?P<ttl>\d+) ?\) ?(?P<source>[\da-f:.]+) > (?P<target>[\da-f:.]+?)\)"
)
TCP_HEADER = re.compile(
    r"ns3::TcpHeader \((\d+) > (\d+) \[([A-Z|]*)\] Seq=(\d+) Ack=(\d+) Win=(\d+)(.*)$"
)
UDP_HEADER = re.compile(r"ns3::UdpHeader \(length: (\d+) (\d+) > (\d+)\)")
OPTION = re.compile(r"ns3::TcpOption(\w+)\(([^)]*)\)")
ECN = {"ECT (1)": 1, "ECT (0)": 2, "CE": 3}


class Ns3Ascii:
    """A simulation: its hosts as if each had been captured, without the nodes between them."""

    name = "ns3-ascii"
    title = "ASCII trace of ns-3, of point-to-point and CSMA devices (EnableAsciiAll)"
    reads = (
        "a packet enters or misses the queue of the node with its source (+, d), and is received "
        "(r) at that of its target → all that captures of both ends would show, findings, too; "
        "lines → records"
    )
    empty = "Wi-Fi and LTE"

    def matches(self, file: File) -> bool:
        """Say whether the first line is a packet's."""
        return FIRST.match(file.head) is not None

    def read(self, file: File) -> Contents:
        contents = Contents("ns3", file, has_clock=False)
        passed: list[Passed] = []
        for number, line in contents.whole_lines(file):
            found = LINE.match(line)
            if found is None:
                raise ValueError(
                    f"{line[:60].rstrip()!r} is no packet at a point-to-point or CSMA device",
                    number,
                )
            how, at_s, node, text = found.groups()
            try:
                is_time = 0 <= float(at_s) <= LONGEST // SECOND
            except ValueError:
                is_time = False
            if not is_time:
                raise ValueError(
                    f"{at_s[:30]!r} is no time of a simulation: seconds from 0 to "
                    f"{LONGEST // SECOND}",
                    number,
                )
            try:
                packet = _packet(text, number, round(float(at_s) * SECOND))
                if packet is not None:
                    packet.captured()
                    passed.append((how, node or "", packet))
            except (IndexError, OverflowError, ValueError, struct.error) as error:
                raise ValueError("has a number that no header holds", number) from error
        measure(contents, _at_hosts(passed))
        if not contents.tables.get("connections"):
            raise ValueError("holds no packet of a TCP connection")
        return contents


def _packet(text: str, line: int, at_ns: int) -> Packet | None:
    ip = IPV4.search(text) or IPV6.search(text)
    if ip is None:
        return None
    is_four = "id" in ip.groupdict()
    length = int(ip["length"])
    transport = b""
    if found := TCP_HEADER.search(text):
        source, target, flags, seq, ack, window, rest = found.groups()
        transport = tcp(
            (int(source), int(target)), flags, int(seq), int(ack), int(window), _options(rest)
        )
    elif found := UDP_HEADER.search(text):
        size, *ports = (int(one) for one in found.groups())
        transport = struct.pack(">HHHH", *ports, size, 0)
    if int(ip["protocol"]) in (TCP, UDP) and not transport:
        # A fragment but the first.
        return None
    return Packet(
        line,
        at_ns,
        ip["source"],
        ip["target"],
        int(ip["protocol"]),
        length if is_four else length + 40,
        int(ip["id"]) if is_four else 0,
        int(ip["ttl"]),
        ECN.get(ip["ecn"] or "", 0) if is_four else 0,
        transport,
    )


def _options(text: str) -> bytes:
    made = b""
    for name, value in OPTION.findall(text):
        numbers = [int(one) for one in re.findall(r"\d+", value)]
        if name == "MSS" and numbers:
            made += struct.pack(">BBH", 2, 4, numbers[0])
        elif name == "WinScale":
            made += struct.pack(">BBB", 3, 3, numbers[0])
        elif name == "SackPermitted":
            made += bytes((4, 2))
        elif name == "Sack":
            # How many blocks, and their edges.
            edges = numbers[1:]
            made += struct.pack(f">BB{len(edges)}I", 5, 2 + 4 * len(edges), *edges)
        elif name == "TS":
            made += struct.pack(">BBII", 8, 10, *numbers)
        elif name == "NOP":
            made += b"\1"
        elif name == "End":
            made += b"\0"
    return made


def _at_hosts(passed: Iterable[Passed]) -> dict[str, list[Packet]]:
    """Give the packets of each node that is the home of an address: sent there, or arrived.

    Home is where packets enter a queue without having been received before, or else where they are
    received and go no further.
    """
    passed = list(passed)
    received: set[tuple[str, str]] = set()
    onward: set[tuple[str, str]] = set()
    homes: dict[str, str | None] = {}
    targets: dict[str, list[str]] = {}
    for how, node, packet in passed:
        if how == "r":
            received.add((packet.source, node))
            targets.setdefault(packet.target, []).append(node)
        elif (packet.source, node) not in received:
            homes.setdefault(packet.source, node)
        if how != "r":
            onward.add((packet.target, node))
    for address, nodes in targets.items():
        last = (node for node in nodes if (address, node) not in onward)
        homes.setdefault(address, next(last, None))
    hosts: dict[str, list[Packet]] = {}
    for how, node, packet in passed:
        end = {"r": packet.target, "+": packet.source, "d": packet.source}.get(how)
        if end and homes.get(end) == node:
            hosts.setdefault(node, []).append(packet)
    return hosts


SOURCE = Ns3Ascii()
