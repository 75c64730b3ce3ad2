"""What MPTCP data went through, worked out plainly from tshark's packets of one connection.

Offsets count from the connection's first byte: DSN − initial DSN − 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from oracles.ranges import Ranges
from oracles.tshark import ACK, MP_CAPABLE, RST, SYN, Connection, Packet

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


def arrived(data: Data, up: bool) -> dict[int, int]:
    """Bytes of each stream that no other had brought before."""
    seen, found = Ranges(), dict.fromkeys(data.clients, 0)
    for packet, offset in data.payload(up):
        for start, end, owners in seen.add(offset, offset + packet.length, packet.stream):
            found[packet.stream] += 0 if owners else end - start
    return found


def confirmed(data: Data, up: bool) -> dict[int, int]:
    """Bytes of each stream that the receiver acknowledged there, and nowhere before.

    By the mappings: what the capture itself lost is acknowledged too.
    """
    seen, found = Ranges(), dict.fromkeys(data.clients, 0)
    mapped: dict[int, list[tuple[int, int, int]]] = defaultdict(list)  # sequence, end, offset
    initial: dict[int, int] = {}
    for packet in data.packets:
        stream = packet.stream
        if data.is_up(packet) == up:
            if packet.flags & SYN:
                initial[stream] = packet.sequence
            elif packet.mapping is not None and packet.mapping[2] > 0:
                dsn, sequence, length = packet.mapping
                mapped[stream].append((sequence, sequence + length, dsn - 1))
            elif MP_CAPABLE in packet.subtypes and packet.length:
                mapped[stream].append((1, 1 + packet.length, 0))
        elif packet.flags & ACK and not packet.flags & (SYN | RST):
            ack = (packet.acknowledgement - initial[stream]) % 2**32
            for start, end, offset in mapped[stream]:
                if start < ack:
                    until = offset + min(end, ack) - start
                    for a, b, owners in seen.add(offset, until, stream):
                        found[stream] += 0 if owners else b - a
            mapped[stream] = [piece for piece in mapped[stream] if piece[1] > ack]
    return found


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
