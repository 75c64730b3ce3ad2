"""Packets that a simulator tells of, as captures of its hosts → what the analysis measures."""

from __future__ import annotations

import struct
import tempfile
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from mptcplab import _core
from mptcplab.sources.contents import SECOND, Contents, Row

# libpcap, in nanoseconds, of bare IP packets.
MAGIC, VERSION, SNAP_LENGTH, RAW = 0xA1B23C4D, (2, 4), 65535, 101
FLAGS = {"FIN": 1, "SYN": 2, "RST": 4, "PSH": 8, "ACK": 16, "URG": 32, "ECE": 64, "CWR": 128}
TCP, UDP = 6, 17
MOMENTS = {"transfers": ("longest_gap_start_s",), "findings": ("from_s", "to_s")}


@dataclass(frozen=True)
class Packet:
    """A packet at a host: what its headers say, and in which line of the file."""

    line: int
    at_ns: int
    source: str
    target: str
    protocol: int
    #: Of all of it, with the header of IP.
    length: int
    id: int
    ttl: int
    #: The ECN field of IP.
    ecn: int
    #: Its TCP or UDP header, or what is known of it.
    transport: bytes

    def captured(self) -> bytes:
        """Give its headers."""
        source, target = (ip_address(one) for one in (self.source, self.target))
        if source.version == 4:
            head = struct.pack(
                ">BBHHHBBH", 0x45, self.ecn, self.length, self.id, 0, self.ttl, self.protocol, 0
            )
        else:
            head = struct.pack(
                ">IHBB", 6 << 28 | self.ecn << 20, self.length - 40, self.protocol, self.ttl
            )
        return head + source.packed + target.packed + self.transport


def tcp(
    ports: tuple[int, int], flags: str, seq: int, ack: int, window: int, options: bytes
) -> bytes:
    """Give a TCP header; ``flags`` are their names, with | between them."""
    options += bytes(-len(options) % 4)
    bits = sum(FLAGS.get(one, 0) for one in flags.split("|"))
    words = (20 + len(options)) // 4
    head = struct.pack(
        ">HHIIBBHHH", *ports, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, words << 4, bits, window, 0, 0
    )
    return head + options


def measure(contents: Contents, hosts: dict[str, list[Packet]]) -> None:
    """Measure the packets of each host, and put the rows to the contents.

    What rows tell of packets, they tell of lines of the file.
    """
    if not hosts:
        return
    with tempfile.TemporaryDirectory() as directory:
        files = {}
        for number, (host, packets) in enumerate(hosts.items()):
            files[f"{number}.pcap"] = host
            _write(Path(directory) / f"{number}.pcap", packets)
        paths = [Path(directory) / name for name in files]
        tables = _core.analyze(paths, one_clock=True, directory=directory)
    connection = next(iter(tables.rows("connections")), None)
    if connection is None:
        return
    origin_ns = connection["start_ns"] - round(connection["start_s"] * SECOND)
    for name in tables.NAMES:
        for row in tables.rows(name):
            capture = Path(row.get("capture") or "").name
            if capture in files:
                packets = hosts[files[capture]]
                row["capture"] = contents.name
                if row.get("record"):
                    row["record"] = packets[row["record"] - 1].line
            contents.add(name, **_untimed(name, row, origin_ns))
    for row in contents.tables["connections"]:
        row["source"] = contents.source
    # Other moments count from the first packet, and those of files from what they tell of first.
    late_s = ((contents.start_ns or 0) - origin_ns) / SECOND
    for table, columns in MOMENTS.items():
        for row in contents.tables.get(table, []):
            for column in columns:
                if row[column] is not None:
                    row[column] -= late_s


def _write(path: Path, packets: list[Packet]) -> None:
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", MAGIC, *VERSION, 0, 0, SNAP_LENGTH, RAW))
        for packet in packets:
            headers = packet.captured()
            seconds, rest = divmod(packet.at_ns, SECOND)
            file.write(struct.pack("<IIII", seconds, rest, len(headers), packet.length))
            file.write(headers)


def _untimed(table: str, row: Row, origin_ns: int) -> Row:
    """Leave out the seconds, or give nanoseconds in their place: the tables have them anew."""
    row.pop("at_s", None)
    if table == "connections":
        del row["start_s"]
    if table == "subflows":
        row["start_ns"], row["end_ns"] = (
            origin_ns + round(row.pop(one) * SECOND) for one in ("start_s", "end_s")
        )
    return row
