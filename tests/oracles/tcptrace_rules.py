"""The rules by which tcptrace counts, as a model that gives its figures exactly.

Where our figures differ from tcptrace's, the tests explain the whole difference with what this
model keeps apart (samples of SYN and FIN, payload alone), and with rules that can be changed one by
one: OURS names all that we have otherwise.
"""

from __future__ import annotations

import bisect
import itertools
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from oracles.tshark import ACK, FIN, RST, SYN, FourTuple, Packet, client_first


@dataclass(frozen=True)
class Rules:
    """What may be had in another way; the defaults are tcptrace's."""

    # A SYN begins a new connection after a FIN or RST, if its number lies outside of the window as
    # compared without wrap-around; else whenever its number is another than the first SYN's.
    begins_anew_after_end: bool = True
    # Times are cut to this.
    clock_ns: int = 1000
    # Records are kept per quarter of the sequence space, and samples end at its border.
    quarter: int = 2**30
    # A RST acknowledges, and its payload is data.
    resets_count: bool = True
    # Any segment into a closed window is a probe; else only a single byte is.
    probes_of_any_length: bool = True
    # What a zero-window probe brings is no new data and no record, so that it gives no sample.
    probes_bring_nothing: bool = True
    # The last byte acknowledged, sent once more by itself, is data, and an ACK with its number no
    # more than an ACK; else they are keep-alives: the ACK only when all is acknowledged and
    # before the FIN; into a closed window it is a probe.
    keep_alives_count: bool = True
    # The numbers of another SYN and FIN, of a connection taken for the same, are different bytes.
    later_marks_are_bytes: bool = True
    # A segment larger than the MSS is one packet; else the packets that it was merged of, and each
    # of these is a record.
    merged_are_one: bool = True


TCPTRACE = Rules()
OURS = Rules(
    begins_anew_after_end=False,
    clock_ns=1,
    quarter=2**64,
    resets_count=False,
    probes_of_any_length=False,
    probes_bring_nothing=False,
    keep_alives_count=False,
    later_marks_are_bytes=False,
    merged_are_one=False,
)


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
    rtt_samples: list[tuple[str, int]] = field(default_factory=list)  # kind of segment, time
    post_loss_acks: int = 0
    ambiguous_acks: int = 0
    cumulatively_acked: int = 0
    # The same told by payload alone, without what SYN and FIN add.
    resent_packets: int = 0
    resent_bytes: int = 0
    repeated_packets: int = 0  # all their payload was seen before
    gap_packets: int = 0  # payload not seen before, below the highest number seen
    # Not tcptrace's.
    keep_alives: int = 0
    merged_segments: int = 0

    def rtts_of_data(self) -> list[int]:
        """The samples of segments with payload."""
        return [time for kind, time in self.rtt_samples if kind in ("data", "data and fin")]


@dataclass
class Record:
    """Bytes that were sent together, or acknowledged neighbours. `end` is exclusive."""

    start: int
    end: int
    at: int
    kind: str
    resent: bool = False
    acked: bool = False


@dataclass
class End:
    """What tcptrace knows of one end of a connection."""

    sent: Sent = field(default_factory=Sent)
    records: list[Record] = field(default_factory=list)
    origin: int | None = None
    highest: int | None = None
    acked: int | None = None
    syns: int = 0
    fins: int = 0
    closed: bool = False  # by FIN or RST
    initial_sequence: int = 0
    mss: int | None = None
    window: int = 0
    window_end: int = 0
    scale: int | None = None


def flows(packets: Iterable[Packet], rules: Rules = TCPTRACE) -> list[tuple[FourTuple, Sent, Sent]]:
    """Of every TCP connection: its 4-tuple (client first), what the client and the server sent."""
    streams: dict[frozenset[tuple[str, int]], list[Packet]] = defaultdict(list)
    for packet in packets:
        source, source_port, destination, destination_port = packet.four_tuple
        both = frozenset({(source, source_port), (destination, destination_port)})
        streams[both].append(packet)
    found = []
    for stream in streams.values():
        key = client_first(stream)
        ends = {True: End(), False: End()}
        for packet in stream:
            forward = packet.four_tuple == key
            if _starts_anew(packet, ends[forward], ends[not forward], rules):
                found.append((key, ends[True].sent, ends[False].sent))
                ends = {True: End(), False: End()}
            _take(packet, ends[forward], ends[not forward], rules)
        found.append((key, ends[True].sent, ends[False].sent))
    return found


def _starts_anew(packet: Packet, own: End, other: End, rules: Rules) -> bool:
    if not rules.begins_anew_after_end:
        opens = packet.flags & (SYN | ACK) == SYN
        seen = own.sent.packets + other.sent.packets > 0
        return opens and seen and packet.sequence != own.initial_sequence
    # Its comparison knows no wrap-around, so that a mere repetition of a SYN may do, after a RST.
    outside = packet.sequence > other.window_end or packet.sequence < own.initial_sequence
    return bool(packet.flags & SYN) and (own.closed or other.closed) and outside


def _take(packet: Packet, own: End, other: End, rules: Rules) -> None:
    at = packet.at_ns // rules.clock_ns
    syn, fin = bool(packet.flags & SYN), bool(packet.flags & FIN)
    own.syns += syn
    own.fins += fin
    own.closed |= bool(packet.flags & (FIN | RST))
    if syn:
        own.initial_sequence = packet.sequence
        own.mss = packet.mss or own.mss
    if packet.window_scale is not None and syn:
        own.scale = packet.window_scale
    scaled = own.scale is not None and other.scale is not None and not syn
    window = packet.window << (own.scale or 0) if scaled else packet.window
    if packet.flags & ACK:
        own.window_end = packet.acknowledgement + window
    own.sent.packets += 1
    if packet.flags & RST and not rules.resets_count:
        return
    if packet.length or syn or fin:
        _send(packet, own, other, at, rules)
    elif not rules.keep_alives_count and not own.fins:
        _bare(packet, own, other)
    if packet.flags & ACK:
        _acknowledge(packet.acknowledgement, other, at, rules)
    if not packet.flags & RST:
        own.window = window if packet.flags & (ACK | SYN) else 0


def _send(packet: Packet, own: End, other: End, at: int, rules: Rules) -> None:
    sent = own.sent
    syn, fin = bool(packet.flags & SYN), bool(packet.flags & FIN)
    start = _unwrap(own, packet.sequence)
    end = start + packet.length + syn + fin
    probe = other.window == 0 and other.sent.packets > 0
    if not rules.probes_of_any_length:
        probe = probe and end == start + 1 and packet.length == 1
    alive = end == start + 1 and packet.length == 1 and own.acked == end and not probe
    if alive and not rules.keep_alives_count:
        sent.keep_alives += 1
        return
    merged = packet.length > (other.mss or packet.length) and not rules.merged_are_one
    room = (other.mss or 0) - packet.options_length if merged else max(packet.length, 1)
    count = -(-packet.length // room)
    sent.merged_segments += merged
    sent.data_packets += count
    sent.data_bytes += packet.length
    if probe:
        sent.zero_window_probes += 1
        sent.zero_window_probe_bytes += packet.length
        if rules.probes_bring_nothing:
            return
    payload = (start + syn, start + syn + packet.length)
    kind = "syn" if syn else "data and fin" if fin and packet.length else "fin" if fin else "data"
    new: list[tuple[int, int]] = []
    quarter = (start // rules.quarter + 1) * rules.quarter
    pieces = [(start, end)] if end <= quarter else [(start, quarter), (quarter, end)]
    if merged:
        # An ACK may end with any of its packets.
        cuts = [*range(start, payload[1], room), end]
        pieces = list(itertools.pairwise(cuts))
    outoforder = False
    for piece in pieces:
        added, fills_gap = _add(own.records, piece, at, kind, rules)
        new += added
        outoforder |= fills_gap
    sent.outoforder_packets += outoforder
    resent = end - start - sum(b - a for a, b in new)
    if resent:
        sent.rexmt_packets += 1
        sent.rexmt_bytes += resent
    numbers = new
    new = [(max(a, payload[0]), min(b, payload[1])) for a, b in new]
    new = [(a, b) for a, b in new if a < b]
    new_bytes = sum(b - a for a, b in new)
    sent.unique_bytes += new_bytes
    if rules.later_marks_are_bytes:
        marks = [start] * (syn and own.syns > 1) + [end - 1] * (fin and own.fins > 1)
        sent.unique_bytes += sum(a <= mark < b for mark in marks for a, b in numbers)
    if new_bytes < packet.length and not probe:
        sent.resent_packets += -(-(packet.length - new_bytes) // room)
        sent.resent_bytes += packet.length - new_bytes
        sent.repeated_packets += count * (new_bytes == 0)
    sent.gap_packets += count * any(a < (own.highest or a) for a, _ in new)
    if packet.length or fin:
        own.highest = max(end, own.highest or end)


def _bare(packet: Packet, own: End, other: End) -> None:
    position = _unwrap(own, packet.sequence)
    if own.syns and own.acked == position + 1 and own.acked >= (own.highest or 0):
        if other.window == 0:
            own.sent.zero_window_probes += 1
        else:
            own.sent.keep_alives += 1


def _unwrap(end: End, sequence: int) -> int:
    if end.origin is None:
        end.origin = sequence + 2**32
    return end.origin + (sequence - end.origin + 2**31) % 2**32 - 2**31


def _add(
    records: list[Record], piece: tuple[int, int], at: int, kind: str, rules: Rules
) -> tuple[list[tuple[int, int]], bool]:
    """What was not seen before, and whether tcptrace calls the segment out of order."""
    start, end = piece
    limit = (start // rules.quarter + 1) * rules.quarter
    index = bisect.bisect_right(records, start, key=lambda record: record.end)
    new, fills, first = [], False, True
    while start < end:
        if index == len(records) or records[index].start >= limit:
            records.insert(index, Record(start, end, at, kind))
            new.append((start, end))
            break
        record = records[index]
        if start < record.start:
            # A segment that ends where the record does, or later, is one sent again in one piece.
            fills |= end < record.end
            until = min(end, record.start)
            records.insert(index, Record(start, until, at, kind))
            new.append((start, until))
            start = until
            index += 1
            continue
        record.resent = True
        if first:
            record.at = at
        first = False
        start = record.end
        index += 1
    return new, fills


def _acknowledge(acknowledgement: int, other: End, at: int, rules: Rules) -> None:
    if other.origin is None:
        return
    ack = _unwrap(other, acknowledgement)
    other.acked = max(ack, other.acked or ack)
    quarter = ack // rules.quarter * rules.quarter
    sent, records = other.sent, other.records
    latest = 0
    for record in records:
        if record.start >= ack:
            break
        if record.end <= quarter - rules.quarter:
            continue
        if record.start < quarter:
            # What lies in the quarter before is acknowledged, but never gives a sample.
            if not record.acked:
                record.acked = True
                sent.cumulatively_acked += 1
                latest = max(latest, record.at)
            continue
        latest = max(latest, record.at)
        if record.acked:
            continue
        record.acked = True
        if record.end != ack:
            sent.cumulatively_acked += 1
        elif latest > record.at:
            sent.post_loss_acks += 1
        elif record.resent:
            sent.ambiguous_acks += 1
        else:
            sent.rtt_samples.append((record.kind, at - record.at))
    _collapse(records, rules)


def _collapse(records: list[Record], rules: Rules) -> None:
    """Acknowledged neighbours become one record, sent when the later of them was."""
    at = 0
    while at + 1 < len(records) and records[at].acked:
        first, second = records[at], records[at + 1]
        if second.acked and first.end == second.start and second.start % rules.quarter:
            second.start = first.start
            second.at = max(first.at, second.at)
            del records[at]
        else:
            at += 1
