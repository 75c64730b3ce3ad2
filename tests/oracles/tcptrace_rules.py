"""The rules by which tcptrace counts, as a model that gives its figures exactly.

Where our figures differ from tcptrace's, the tests explain the whole difference with what this
model keeps apart: samples of SYN and FIN, segments on a quarter of the sequence space, and so on.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from oracles.tshark import ACK, FIN, RST, SYN, FourTuple, Packet, client_first

QUARTER = 2**30


@dataclass
class Sent:
    """tcptrace's figures of one direction, and the parts of them that the rules keep apart."""

    packets: int = 0
    data_packets: int = 0
    data_bytes: int = 0
    unique_bytes: int = 0
    rexmt_packets: int = 0
    rexmt_bytes: int = 0
    outoforder_packets: int = 0
    zero_window_probes: int = 0
    zero_window_probe_bytes: int = 0
    rtt_samples_us: list[int] = field(default_factory=list)
    post_loss_acks: int = 0
    ambiguous_acks: int = 0
    cumulatively_acked: int = 0
    # Of the above.
    rexmt_syn_fin_packets: int = 0  # without data
    rtt_samples_of_syn: int = 0
    rtt_samples_of_fin: int = 0  # without data
    rtt_samples_of_data_and_fin: int = 0
    outoforder_syn_fin_packets: int = 0
    cut_at_quarter: int = 0


@dataclass
class Record:
    """Bytes that were sent together, or acknowledged neighbours. `end` is exclusive."""

    start: int
    end: int
    at_us: int
    kind: str
    resent: bool = False
    acked: bool = False


@dataclass
class End:
    """What tcptrace knows of one end of a connection."""

    sent: Sent = field(default_factory=Sent)
    records: list[Record] = field(default_factory=list)
    origin: int | None = None
    syns: int = 0
    fins: int = 0
    closed: bool = False  # by FIN or RST
    initial_sequence: int = 0
    window: int = 0
    window_end: int = 0
    scale: int | None = None


def flows(packets: Iterable[Packet]) -> list[tuple[FourTuple, Sent, Sent]]:
    """Of every TCP connection: its 4-tuple (client first), what the client and the server sent."""
    streams: dict[int, list[Packet]] = defaultdict(list)
    for packet in packets:
        streams[packet.stream].append(packet)
    found = []
    for stream in streams.values():
        key = client_first(stream)
        ends = {True: End(), False: End()}
        for packet in stream:
            forward = packet.four_tuple == key
            if _starts_anew(packet, ends[forward], ends[not forward]):
                found.append((key, ends[True].sent, ends[False].sent))
                ends = {True: End(), False: End()}
            _take(packet, ends[forward], ends[not forward])
        found.append((key, ends[True].sent, ends[False].sent))
    return found


def _starts_anew(packet: Packet, own: End, other: End) -> bool:
    # Its comparison knows no wrap-around, so that a mere repetition of a SYN may do, after a RST.
    outside = packet.sequence > other.window_end or packet.sequence < own.initial_sequence
    return bool(packet.flags & SYN) and (own.closed or other.closed) and outside


def _take(packet: Packet, own: End, other: End) -> None:
    at_us = packet.at_ns // 1000
    syn, fin = bool(packet.flags & SYN), bool(packet.flags & FIN)
    own.syns += syn
    own.fins += fin
    own.closed |= bool(packet.flags & (FIN | RST))
    if syn:
        own.initial_sequence = packet.sequence
    if packet.window_scale is not None and syn:
        own.scale = packet.window_scale
    scaled = own.scale is not None and other.scale is not None and not syn
    window = packet.window << (own.scale or 0) if scaled else packet.window
    if packet.flags & ACK:
        own.window_end = packet.acknowledgement + window
    own.sent.packets += 1
    if packet.length:
        own.sent.data_packets += 1
        own.sent.data_bytes += packet.length
    if packet.length or syn or fin:
        _send(packet, own, other, at_us)
    if packet.flags & ACK:
        _acknowledge(packet.acknowledgement, other, at_us)
    if not packet.flags & RST:
        own.window = window if packet.flags & (ACK | SYN) else 0


def _send(packet: Packet, own: End, other: End, at_us: int) -> None:
    sent = own.sent
    syn, fin = bool(packet.flags & SYN), bool(packet.flags & FIN)
    if other.window == 0 and other.sent.packets > 0:
        # Neither unique nor resent, and no record of it: its ACK gives no sample.
        sent.zero_window_probes += 1
        sent.zero_window_probe_bytes += packet.length
        return
    start = _unwrap(own, packet.sequence)
    end = start + packet.length + syn + fin
    kind = "syn" if syn else "data and fin" if fin and packet.length else "fin" if fin else "data"
    resent, fills = 0, False
    quarter = (start // QUARTER + 1) * QUARTER
    pieces = [(start, end)] if end <= quarter else [(start, quarter), (quarter, end)]
    sent.cut_at_quarter += len(pieces) - 1
    for piece in pieces:
        bytes_resent, fills_gap = _add(own.records, *piece, at_us, kind)
        resent += bytes_resent
        fills |= fills_gap
    sent.outoforder_packets += fills
    sent.outoforder_syn_fin_packets += fills and not packet.length
    if resent:
        sent.rexmt_packets += 1
        sent.rexmt_bytes += resent
        sent.rexmt_syn_fin_packets += not packet.length
    data_resent = resent - (syn and own.syns > 1) - (fin and own.fins > 1)
    sent.unique_bytes += max(0, packet.length - data_resent)


def _unwrap(end: End, sequence: int) -> int:
    if end.origin is None:
        end.origin = sequence + 2**32
    return end.origin + (sequence - end.origin + 2**31) % 2**32 - 2**31


def _add(records: list[Record], start: int, end: int, at_us: int, kind: str) -> tuple[int, bool]:
    """Bytes seen before, and whether the segment fills a gap."""
    quarter = start // QUARTER * QUARTER
    at = bisect.bisect_right(records, start, key=lambda record: record.end)
    resent, fills, first = 0, False, True
    while start < end:
        if at == len(records) or records[at].start >= quarter + QUARTER:
            records.insert(at, Record(start, end, at_us, kind))
            break
        record = records[at]
        if start < record.start:
            # A segment that ends where the record does, or later, is one sent again in one piece.
            fills |= end < record.end
            records.insert(at, Record(start, min(end, record.start), at_us, kind))
            start = record.start
            at += 1
            continue
        record.resent = True
        if first:
            record.at_us = at_us
        first = False
        resent += min(end, record.end) - start
        start = record.end
        at += 1
    return resent, fills


def _acknowledge(acknowledgement: int, other: End, at_us: int) -> None:
    if other.origin is None:
        return
    ack = _unwrap(other, acknowledgement)
    quarter = ack // QUARTER * QUARTER
    sent, records = other.sent, other.records
    latest = 0
    for record in records:
        if record.start >= ack:
            break
        if record.end <= quarter - QUARTER:
            continue
        if record.start < quarter:
            # What lies in the quarter before is acknowledged, but never gives a sample.
            if not record.acked:
                record.acked = True
                sent.cumulatively_acked += 1
                latest = max(latest, record.at_us)
            continue
        latest = max(latest, record.at_us)
        if record.acked:
            continue
        record.acked = True
        if record.end != ack:
            sent.cumulatively_acked += 1
        elif latest > record.at_us:
            sent.post_loss_acks += 1
        elif record.resent:
            sent.ambiguous_acks += 1
        else:
            _sample(sent, record, at_us)
    _collapse(records)


def _sample(sent: Sent, record: Record, at_us: int) -> None:
    sent.rtt_samples_us.append(at_us - record.at_us)
    sent.rtt_samples_of_syn += record.kind == "syn"
    sent.rtt_samples_of_fin += record.kind == "fin"
    sent.rtt_samples_of_data_and_fin += record.kind == "data and fin"


def _collapse(records: list[Record]) -> None:
    """Acknowledged neighbours become one record, sent when the later of them was."""
    at = 0
    while at + 1 < len(records) and records[at].acked:
        first, second = records[at], records[at + 1]
        if second.acked and first.end == second.start and second.start % QUARTER:
            second.start = first.start
            second.at_us = max(first.at_us, second.at_us)
            del records[at]
        else:
            at += 1
