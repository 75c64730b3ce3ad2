"""What MPTCP data went through, worked out plainly from tshark's packets of one connection.

Offsets count from the connection's first byte: DSN − initial DSN − 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from oracles.ranges import Ranges
from oracles.tshark import ACK, RST, SYN, Connection, Packet

MP_FASTCLOSE = 7
DIRECTIONS = (True, False)
Sent = tuple[int, bool]  # stream, whether it was sent by the client


@dataclass(frozen=True, order=True)
class InOrder:
    """New bytes that a packet brought, and how long they waited for those before them."""

    number: int  # of the packet
    offset: int
    bytes: int
    waited_ns: int


@dataclass
class Data:
    """The packets of a connection, in order, with the offsets of their payload."""

    packets: list[Packet]
    clients: dict[int, tuple[str, int]]
    initial: dict[bool, int | None]  # DSN, of the client's and of the server's data

    def is_up(self, packet: Packet) -> bool:
        return packet.four_tuple[:2] == self.clients[packet.stream]

    def payload(self, up: bool) -> Iterator[tuple[Packet, int]]:
        """Packets with data of a known DSN, and their offset."""
        initial = self.initial[up]
        assert initial is not None
        for packet in self.packets:
            if packet.length and packet.dsn is not None and self.is_up(packet) == up:
                yield packet, packet.dsn - initial - 1


def of(connection: Connection, packets: list[Packet]) -> Data:
    clients = {s.stream: s.four_tuple[:2] for s in connection.subflows}
    own = [packet for packet in packets if packet.stream in clients]
    return Data(own, clients, {True: connection.client_idsn, False: connection.server_idsn})


def acknowledged(data: Data, up: bool) -> int | None:
    """Bytes that the highest DATA_ACK covers; DATA_FIN is none."""
    acks = [p.data_ack for p in data.packets if data.is_up(p) != up and p.data_ack is not None]
    fins = {p.data_fin for p in data.packets if data.is_up(p) == up and p.data_fin is not None}
    if not acks:
        return None
    return max(acks) - 1 - any(fin < max(acks) for fin in fins)


def below(data: Data, up: bool, end: int) -> int:
    """Different bytes before the offset that are in the capture."""
    seen = Ranges()
    for packet, offset in data.payload(up):
        if offset < end:
            seen.add(offset, min(offset + packet.length, end), 0)
    return seen.count()


def over_ns(data: Data) -> int | None:
    """When one side ended the connection at once, or both had said all and knew it."""
    acked: dict[bool, bool] = {}
    fins: dict[bool, int] = {}
    for packet in data.packets:
        up = data.is_up(packet)
        if MP_FASTCLOSE in packet.subtypes:
            return packet.at_ns
        if packet.data_fin is not None:
            fins[up] = packet.data_fin
        if packet.data_ack is not None and packet.data_ack > fins.get(not up, packet.data_ack):
            acked[not up] = True
        if len(acked) == len(DIRECTIONS):
            return packet.at_ns
    return None


def reset_with_the_end(data: Data, packets: list[Packet]) -> bool:
    """Whether who ended the connection at once reset this subflow with it: within a round trip."""
    end = next((p for p in data.packets if MP_FASTCLOSE in p.subtypes), None)
    if end is None:
        return False
    longest = 1_000_000
    opened: dict[int, int] = {}
    for packet in data.packets:
        if packet.flags & SYN:
            opened.setdefault(packet.stream, packet.at_ns)
        elif packet.stream in opened:
            longest = max(longest, packet.at_ns - opened.pop(packet.stream))
    resets = (p for p in packets if p.flags & RST and data.is_up(p) == data.is_up(end))
    return any(p.at_ns + longest >= end.at_ns for p in resets)


@dataclass
class Carried:
    """Delivered bytes by the stream that passed them first, and what is unsure at the sender."""

    first: dict[int, int]
    #: Sent over another stream before the first one acknowledged them.
    uncertain: int


def carried(data: Data, up: bool) -> Carried:
    """Say which stream brought each of the bytes that were acknowledged in the end."""
    end = acknowledged(data, up) or 0
    seen, confirmed = Ranges(), Ranges()
    again = Ranges()
    found = dict.fromkeys(data.clients, 0)
    initial = data.initial[up]
    assert initial is not None
    sent: dict[int, list[tuple[int, int, int]]] = defaultdict(list)  # sequence, end, offset
    syn: dict[int, int] = {}
    highest = 0
    for packet in data.packets:
        stream = packet.stream
        if data.is_up(packet) == up:
            if packet.flags & SYN:
                syn[stream] = packet.sequence
            if not packet.length or packet.dsn is None:
                continue
            start = packet.dsn - initial - 1
            until = min(start + packet.length, end)
            if start >= until:
                continue
            sequence = (packet.sequence - syn.get(stream, packet.sequence)) % 2**32
            sent[stream].append((sequence, sequence + until - start, start))
            for a, b, owners in seen.add(start, until, stream):
                found[stream] += 0 if owners else b - a
                if owners and owners != {stream}:
                    _doubt(again, confirmed, max(a, highest), b)
        elif packet.flags & ACK and not packet.flags & (SYN | RST) and stream in syn:
            ack = (packet.acknowledgement - syn[stream]) % 2**32
            for a, b, offset in sent[stream]:
                if a < ack:
                    confirmed.add(offset, offset + min(b, ack) - a, stream)
            sent[stream] = [piece for piece in sent[stream] if piece[1] > ack]
        if data.is_up(packet) != up and packet.data_ack is not None:
            highest = max(highest, packet.data_ack - 1)
    return Carried(found, again.count())


def _doubt(again: Ranges, confirmed: Ranges, start: int, end: int) -> None:
    """Of what is sent once more, that is in doubt which nobody had acknowledged."""
    at = start
    for a, b, _ in sorted(confirmed.items):
        if b > at and a < end:
            if a > at:
                again.add(at, a, 0)
            at = max(at, b)
    if at < end:
        again.add(at, end, 0)


def out_of_order(data: Data, up: bool) -> list[InOrder]:
    """Every piece of new data, with its wait until all before it was there."""
    seen, found = Ranges(), []
    waiting: list[tuple[int, int, Packet]] = []
    frontier = 0
    for packet, offset in data.payload(up):
        for start, end, owners in seen.add(offset, offset + packet.length, 0):
            if not owners:
                waiting.append((start, end, packet))
        for start, end, _ in sorted(waiting):
            frontier = end if start == frontier else frontier
        for start, end, first in [piece for piece in waiting if piece[1] <= frontier]:
            waited_ns = packet.at_ns - first.at_ns
            found.append(InOrder(first.number, start, end - start, waited_ns))
        waiting = [piece for piece in waiting if piece[1] > frontier]
    return sorted(found)
