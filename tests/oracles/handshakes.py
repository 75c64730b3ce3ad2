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


@dataclass(frozen=True, order=True)
class Event:
    event: str
    number: int  # of the packet
    detail: str


def joins(packets: list[Packet]) -> list[Event]:
    """What became of a join, given the packets of its subflow."""
    opener = [p for p in packets if p.four_tuple == packets[0].four_tuple]
    acceptor = [p for p in packets if p.four_tuple != packets[0].four_tuple]
    answers = [p for p in acceptor if p.flags & SYN]
    resets = [p for p in packets if p.flags & RST]
    syn = packets[0].number
    if not answers:
        refused = any(p.flags & RST for p in acceptor)
        return [Event("join_refused" if refused else "join_unanswered", syn, "")]
    later = [p for p in opener if p.number > answers[0].number and p.flags & ACK]
    third = next((p for p in later if not p.flags & (SYN | RST)), None)
    found = []
    if third is not None:
        found.append(Event("join_established", third.number, ""))
    stripped = not any(MP_JOIN in p.subtypes for p in answers)
    carried = any(p.length or p.flags & FIN for p in packets)
    if stripped or (resets and not carried):
        found.append(Event("join_refused", syn, ""))
    elif third is None:
        found.append(Event("join_unfinished", syn, ""))
    return found


def resets(packets: list[Packet]) -> list[Event]:
    """The first RST of each side of a subflow, with the reason that MP_TCPRST gives on it."""
    found = {}
    for packet in packets:
        if packet.flags & RST and packet.four_tuple not in found:
            reason = packet.reset_reason
            detail = "" if reason is None else REASONS[reason]
            found[packet.four_tuple] = Event("reset", packet.number, detail)
    return list(found.values())
