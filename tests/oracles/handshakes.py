"""How joins began and subflows were reset, worked out plainly from tshark's packets."""

from __future__ import annotations

from dataclasses import dataclass

from oracles.tshark import ACK, FIN, MP_JOIN, RST, SYN, Packet

# RFC 8684, figure 15.
REASONS = [
    "unspecified error",
    "MPTCP-specific error",
    "lack of resources",
    "administratively prohibited",
    "too much outstanding data",
    "unacceptable performance",
    "middlebox interference",
]
SECOND_NS = 1_000_000_000
NOT_BELIEVED = "outside the receiver's window: not believed"


@dataclass(frozen=True, order=True)
class Event:
    event: str
    number: int  # of the packet
    detail: str


def joins(packets: list[Packet], over: int | None, until: int) -> list[Event]:
    """What became of a join, given the packets of its subflow.

    ``over`` is when the connection had ended, ``until`` when the capture did, in nanoseconds.
    """
    opener = [p for p in packets if p.four_tuple == packets[0].four_tuple]
    acceptor = [p for p in packets if p.four_tuple != packets[0].four_tuple]
    answers = [p for p in acceptor if p.flags & SYN]
    resets = [p for p in packets if p.flags & RST and _is_believed(p, packets)]
    syn = packets[0].number
    later = [p for p in opener if answers and p.number > answers[0].number and p.flags & ACK]
    third = next((p for p in later if not p.flags & (SYN | RST)), None)
    found = []
    if third is not None:
        found.append(Event("join_established", third.number, ""))
    if answers and not any(MP_JOIN in p.subtypes for p in answers):
        return [*found, Event("join_refused", syn, "")]
    if third is not None:
        fourth = (p for p in acceptor if p.number > third.number and not p.flags & (SYN | RST))
        if any(fourth) or not resets or any(p.length or p.flags & FIN for p in packets):
            return found
    # It did not come about: it had no time, or it failed.
    ended = over is not None and over < until
    if not resets or (over is not None and packets[-1].at_ns >= over):
        if packets[0].at_ns + SECOND_NS > (over if ended and over is not None else until):
            return found
        if resets:
            return [*found, Event("join_unfinished", syn, "")]
    if resets and (answers or any(p.flags & RST for p in acceptor)):
        return [*found, Event("join_refused", syn, "")]
    return [*found, Event("join_unfinished" if answers else "join_unanswered", syn, "")]


def resets(packets: list[Packet]) -> list[Event]:
    """The first RST of each side of a subflow, with the reason that MP_TCPRST gives on it.

    Those that are not believed are all told.
    """
    found: list[Event] = []
    sides = set()
    for packet in packets:
        if not packet.flags & RST:
            continue
        if not _is_believed(packet, packets):
            found.append(Event("reset", packet.number, NOT_BELIEVED))
        elif packet.four_tuple not in sides:
            sides.add(packet.four_tuple)
            reason = packet.reset_reason
            found.append(Event("reset", packet.number, "" if reason is None else REASONS[reason]))
    return found


def _is_believed(reset: Packet, packets: list[Packet]) -> bool:
    """After the handshake a RST must lie in the receiver's window (RFC 9293 §3.5.2)."""
    before = packets[: packets.index(reset)]
    own = [p for p in before if p.four_tuple == reset.four_tuple]
    other = [p for p in before if p.four_tuple != reset.four_tuple]
    opener = [p for p in before if p.four_tuple == packets[0].four_tuple]
    if not any(p.flags & (SYN | RST | ACK) == ACK for p in opener):
        return True
    acks = [p for p in other if p.flags & (SYN | RST | ACK) == ACK]
    ends = [_distance(p.sequence + _length(p), reset.sequence) for p in own if not p.flags & RST]
    if not acks or not ends:
        return True
    acked = max(_distance(p.acknowledgement, reset.sequence) for p in acks)
    scale = next((p.window_scale for p in other if p.flags & SYN), None)
    window = max(acks[-1].window << (scale or 0), 0xFFFF)
    return acked <= 0 <= max(acked + window, *ends)


def _length(packet: Packet) -> int:
    return packet.length + bool(packet.flags & SYN) + bool(packet.flags & FIN)


def _distance(number: int, other: int) -> int:
    return (number - other + 2**31) % 2**32 - 2**31
