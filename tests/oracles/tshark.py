"""tshark's view of a capture: packets, and what it says about MPTCP.

RULES.md says what its analysis flags mean. Checked against tshark 4.0.17.
"""

from __future__ import annotations

import pathlib
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache

from oracles.ranges import Ranges

# Without these mptcp.rawdsn64 and mptcp.reinjection_of stay empty. TCP's sequence numbers must stay
# relative, or data sent with MP_CAPABLE gets no DSN.
PREFERENCES = ("mptcp.analyze_mappings:TRUE", "mptcp.intersubflows_retransmission:TRUE")
FIELDS = (
    "frame.number",
    "frame.time_epoch",
    "frame.interface_name",
    "ip.src",
    "ip.dst",
    "ipv6.src",
    "ipv6.dst",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.stream",
    "tcp.flags",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.len",
    "tcp.hdr_len",
    "tcp.window_size_value",
    "tcp.options.wscale.shift",
    "tcp.options.mss_val",
    "mptcp.stream",
    "mptcp.rawdsn64",
    "mptcp.reinjection_of",
    "mptcp.ack",
    "mptcp.dss.dsn",
    "tcp.options.mptcp.subflowseqno",
    "tcp.options.mptcp.datalvllen",
    "tcp.options.mptcp.datafin.flag",
    "mptcp.expected_token",
    "mptcp.expected_idsn",
    "tcp.options.mptcp.subtype",
    "tcp.options.mptcp.version",
    "tcp.options.mptcp.recvtok",
    "tcp.options.mptcp.addrid",
    "tcp.options.mptcp.ipv4",
    "tcp.options.mptcp.ipv6",
    "tcp.options.mptcp.port",
    "tcp.options.mptcp.echo",
    "tcp.options.mptcp.rst_reason",
    "tcp.analysis.retransmission",
    "tcp.analysis.out_of_order",
    "tcp.analysis.ack_rtt",
)
FIN, SYN, RST, ACK = 1, 2, 4, 16
MP_CAPABLE, MP_JOIN, ADD_ADDR, REMOVE_ADDR = 0, 1, 3, 4

FourTuple = tuple[str, int, str, int]


@dataclass(frozen=True)
class Packet:
    """One TCP segment. Sequence numbers are as on the wire."""

    number: int
    at_ns: int
    interface: str  # its name, where the capture names it
    four_tuple: FourTuple  # sender first
    stream: int
    flags: int
    sequence: int
    acknowledgement: int
    length: int
    window: int  # not scaled
    window_scale: int | None
    mss: int | None
    options_length: int
    connection: int | None
    dsn: int | None  # of the first byte, 64 bits
    reinjection_of: tuple[int, ...]
    data_ack: int | None  # from the initial DSN, where that is known
    data_fin: int | None  # its DSN, from the initial DSN
    mapping: tuple[int, int, int] | None  # DSN and subflow sequence from the initial ones, length
    expected_token: int | None
    expected_idsn: int | None
    subtypes: frozenset[int]
    version: int | None
    token: int | None  # of an MP_JOIN on a SYN
    address_ids: tuple[int, ...]
    addresses: tuple[str, ...]
    port: int | None
    echo: bool
    reset_reason: int | None
    retransmission: bool
    out_of_order: bool
    ack_rtt_ns: int | None


@dataclass
class Sent:
    """What one end sent over a subflow, or over all of them."""

    payload_bytes: int = 0
    sequence_bytes: int = 0  # under different subflow sequence numbers
    dsn_bytes: int = 0  # different ones, as far as tshark knows the DSN
    # Under new subflow sequence numbers, DSNs sent before: on another subflow, or only on this one.
    reinjected_bytes: int = 0
    repeated_bytes: int = 0
    no_dsn_bytes: int = 0  # payload whose DSN tshark does not know
    reinjection_flags: int = 0  # frames that tshark calls reinjections; RULES.md
    retransmission_frames: int = 0
    out_of_order_frames: int = 0
    ack_rtts_ns: list[int] = field(default_factory=list)  # from the acknowledging frames

    def include(self, other: Sent) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass
class Subflow:
    stream: int
    four_tuple: FourTuple  # client first
    joins: int | None  # the token that it asks for
    up: Sent = field(default_factory=Sent)
    down: Sent = field(default_factory=Sent)


@dataclass
class Connection:
    stream: int
    version: int | None
    client_token: int | None = None
    client_idsn: int | None = None
    server_token: int | None = None
    server_idsn: int | None = None
    subflows: list[Subflow] = field(default_factory=list)
    up: Sent = field(default_factory=Sent)
    down: Sent = field(default_factory=Sent)
    added_addresses: set[tuple[str, int]] = field(default_factory=set)  # address, identifier
    removed_address_ids: set[int] = field(default_factory=set)


@cache
def read(capture: pathlib.Path) -> tuple[Packet, ...]:
    """All TCP segments, in the order of the file."""
    command = [
        "tshark",
        "-n",
        "-r",
        str(capture),
        "-Y",
        "tcp",
        "-T",
        "fields",
        "-E",
        "separator=/t",
    ]
    for preference in PREFERENCES:
        command += ["-o", preference]
    for name in FIELDS:
        command += ["-e", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return tuple(by_mapping(past_data_fin(map(_packet, done.stdout.splitlines()))))


def past_data_fin(packets: Iterable[Packet]) -> Iterator[Packet]:
    """Give what follows a mapping with DATA_FIN the DSN that its own mapping says; RULES.md."""
    last: dict[tuple[int, FourTuple], Packet] = {}
    for packet in packets:
        flow = packet.stream, packet.four_tuple
        fin = last.get(flow)
        yield packet if fin is None else _by_itself(packet, fin)
        if packet.data_fin is not None and packet.length:
            last[flow] = packet


def _by_itself(packet: Packet, fin: Packet) -> Packet:
    if not packet.length or packet.mapping is None or fin.mapping is None or fin.dsn is None:
        return packet
    dsn, sequence, length = fin.mapping
    if packet.mapping[1] != sequence + length:
        return packet
    # Of the first byte that the mapping with DATA_FIN covers.
    first = fin.dsn - length + (packet.sequence - fin.sequence) % 2**32
    return replace(packet, dsn=(first - dsn + packet.mapping[0]) % 2**64)


def by_mapping(packets: Iterable[Packet]) -> Iterator[Packet]:
    """Give what tshark lost track of the DSN that its own mapping says; RULES.md."""
    initial: dict[tuple[int, FourTuple], int] = {}
    origin: dict[tuple[int, FourTuple], int] = {}
    for packet in packets:
        flow = packet.stream, packet.four_tuple
        if packet.flags & SYN:
            initial[flow] = packet.sequence
        if not packet.length or packet.mapping is None or flow not in initial:
            yield packet
            continue
        dsn, sequence, _ = packet.mapping
        # Of the first byte, as far from the initial DSN.
        offset = dsn + (packet.sequence - initial[flow]) % 2**32 - sequence
        if packet.dsn is not None:
            origin.setdefault(flow, packet.dsn - offset)
        elif flow in origin:
            packet = replace(packet, dsn=(origin[flow] + offset) % 2**64)
        yield packet


def connections(packets: Iterable[Packet]) -> list[Connection]:
    """The MPTCP connections, in tshark's order."""
    packets = list(packets)
    # The SYN of version 1 has no key, so that only later packets tell its connection.
    owner = {p.stream: p.connection for p in packets if p.connection is not None}
    found: dict[int, Connection] = {}
    of_subflow: dict[int, list[Packet]] = defaultdict(list)
    for packet in packets:
        if packet.stream in owner:
            of_subflow[packet.stream].append(packet)
    for stream, sent in of_subflow.items():
        number = owner[stream]
        assert number is not None
        found.setdefault(number, Connection(number, None)).subflows.append(_subflow(sent))
    for connection in found.values():
        _describe(connection, [p for s in connection.subflows for p in of_subflow[s.stream]])
    return [found[number] for number in sorted(found)]


def client_first(packets: list[Packet]) -> FourTuple:
    """The 4-tuple of a flow: the sender of the SYN first, without one that of the first packet."""
    for packet in packets:
        if packet.flags & SYN:
            a, ap, b, bp = packet.four_tuple
            return (b, bp, a, ap) if packet.flags & ACK else packet.four_tuple
    return packets[0].four_tuple


def _subflow(packets: list[Packet]) -> Subflow:
    joins = next((p.token for p in packets if p.token is not None), None)
    subflow = Subflow(packets[0].stream, client_first(packets), joins)
    for sent, own in _directions(packets, subflow):
        _measure(sent, own)
    for packet in packets:
        if packet.ack_rtt_ns is not None:
            acknowledged = subflow.down if packet.four_tuple == subflow.four_tuple else subflow.up
            acknowledged.ack_rtts_ns.append(packet.ack_rtt_ns)
    return subflow


def _directions(packets: list[Packet], subflow: Subflow) -> Iterator[tuple[Sent, list[Packet]]]:
    yield subflow.up, [p for p in packets if p.four_tuple == subflow.four_tuple]
    yield subflow.down, [p for p in packets if p.four_tuple != subflow.four_tuple]


def _measure(sent: Sent, packets: list[Packet]) -> None:
    data = [p for p in packets if p.length]
    sent.payload_bytes = sum(p.length for p in data)
    sent.no_dsn_bytes = sum(p.length for p in data if p.dsn is None)
    sent.reinjection_flags = sum(bool(p.reinjection_of) for p in data)
    sent.retransmission_frames = sum(p.retransmission for p in packets)
    sent.out_of_order_frames = sum(p.out_of_order for p in packets)


def _describe(connection: Connection, packets: list[Packet]) -> None:
    initial = connection.subflows[0].four_tuple
    for packet in packets:
        if packet.expected_token is not None and packet.expected_idsn is not None:
            if packet.four_tuple == initial:
                connection.client_token = packet.expected_token
                connection.client_idsn = packet.expected_idsn
            else:
                connection.server_token = packet.expected_token
                connection.server_idsn = packet.expected_idsn
        if packet.version is not None:
            # The SYN/ACK's is the version agreed on, the ACK repeats it.
            connection.version = packet.version
        if ADD_ADDR in packet.subtypes and not packet.echo:
            connection.added_addresses |= set(
                zip(packet.addresses, packet.address_ids, strict=True)
            )
        if REMOVE_ADDR in packet.subtypes:
            connection.removed_address_ids |= set(packet.address_ids)
    _follow_data(connection, sorted((p for p in packets if p.length), key=lambda p: p.number))
    for subflow in connection.subflows:
        for total, sent in ((connection.up, subflow.up), (connection.down, subflow.down)):
            dsn_bytes = total.dsn_bytes
            total.include(sent)
            total.dsn_bytes = dsn_bytes


def _follow_data(connection: Connection, data: list[Packet]) -> None:
    subflows = {s.stream: s for s in connection.subflows}
    dsns = {True: Ranges(), False: Ranges()}
    sequences: dict[tuple[int, bool], Ranges] = defaultdict(Ranges)
    dsns_of_one: dict[tuple[int, bool], Ranges] = defaultdict(Ranges)
    origins: dict[tuple[int, bool], int] = {}
    for packet in data:
        subflow = subflows[packet.stream]
        up = packet.four_tuple == subflow.four_tuple
        flow, sent = (packet.stream, up), subflow.up if up else subflow.down
        origin = origins.setdefault(flow, packet.sequence)
        # Signed: a segment before the first one seen may come later.
        start = (packet.sequence - origin + 2**31) % 2**32 - 2**31
        pieces = sequences[flow].add(start, start + packet.length, packet.stream)
        if packet.dsn is None:
            continue
        dsns_of_one[flow].add(packet.dsn, packet.dsn + packet.length, packet.stream)
        for first, last, owners in pieces:
            dsn = packet.dsn + first - start
            for a, b, senders in dsns[up].add(dsn, dsn + last - first, packet.stream):
                if owners or not senders:
                    continue
                if senders - {packet.stream}:
                    sent.reinjected_bytes += b - a
                else:
                    sent.repeated_bytes += b - a
    for (stream, up), ranges in sequences.items():
        sent = subflows[stream].up if up else subflows[stream].down
        sent.sequence_bytes = ranges.count()
        sent.dsn_bytes = dsns_of_one[stream, up].count()
    connection.up.dsn_bytes = dsns[True].count()
    connection.down.dsn_bytes = dsns[False].count()


def _packet(line: str) -> Packet:
    cells = dict(zip(FIELDS, line.split("\t"), strict=True))

    def number(name: str) -> int | None:
        cell = cells[name].split(",")[0]
        return int(cell, 0) if cell else None

    def numbers(name: str) -> tuple[int, ...]:
        return tuple(int(cell, 0) for cell in cells[name].split(",") if cell)

    def known(name: str) -> int:
        return number(name) or 0

    source = (cells["ip.src"] or cells["ipv6.src"]).split(",")[0]
    target = (cells["ip.dst"] or cells["ipv6.dst"]).split(",")[0]
    addresses = cells["tcp.options.mptcp.ipv4"] or cells["tcp.options.mptcp.ipv6"]
    rtt = cells["tcp.analysis.ack_rtt"]
    return Packet(
        number=known("frame.number"),
        at_ns=_nanoseconds(cells["frame.time_epoch"]),
        interface=cells["frame.interface_name"],
        four_tuple=(source, known("tcp.srcport"), target, known("tcp.dstport")),
        stream=known("tcp.stream"),
        flags=known("tcp.flags"),
        sequence=known("tcp.seq_raw"),
        acknowledgement=known("tcp.ack_raw"),
        length=known("tcp.len"),
        window=known("tcp.window_size_value"),
        window_scale=number("tcp.options.wscale.shift"),
        mss=number("tcp.options.mss_val"),
        options_length=known("tcp.hdr_len") - 20,
        connection=number("mptcp.stream"),
        dsn=number("mptcp.rawdsn64"),
        reinjection_of=numbers("mptcp.reinjection_of"),
        data_ack=number("mptcp.ack"),
        data_fin=known("mptcp.dss.dsn") + known("tcp.options.mptcp.datalvllen") - 1
        if number("tcp.options.mptcp.datafin.flag") and cells["mptcp.dss.dsn"]
        else None,
        expected_token=number("mptcp.expected_token"),
        expected_idsn=number("mptcp.expected_idsn"),
        subtypes=frozenset(numbers("tcp.options.mptcp.subtype")),
        version=number("tcp.options.mptcp.version"),
        token=number("tcp.options.mptcp.recvtok"),
        address_ids=numbers("tcp.options.mptcp.addrid"),
        addresses=tuple(address for address in addresses.split(",") if address),
        port=number("tcp.options.mptcp.port"),
        echo=bool(number("tcp.options.mptcp.echo")),
        reset_reason=number("tcp.options.mptcp.rst_reason"),
        mapping=(
            known("mptcp.dss.dsn"),
            known("tcp.options.mptcp.subflowseqno"),
            known("tcp.options.mptcp.datalvllen") - known("tcp.options.mptcp.datafin.flag"),
        )
        if cells["mptcp.dss.dsn"]
        else None,
        retransmission=bool(cells["tcp.analysis.retransmission"]),
        out_of_order=bool(cells["tcp.analysis.out_of_order"]),
        ack_rtt_ns=_nanoseconds(rtt) if rtt else None,
    )


def _nanoseconds(seconds: str) -> int:
    whole, _, fraction = seconds.partition(".")
    return int(whole) * 10**9 + int(fraction.ljust(9, "0")[:9] or 0)
