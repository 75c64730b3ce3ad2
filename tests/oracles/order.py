"""The order that the analysis goes by: of time, and of packets with one time a fixed one.

tshark and tcptrace take packets as they stand in the file. Where that is another order they are
given a copy in this one.
"""

from __future__ import annotations

import ipaddress
import itertools
import pathlib
import struct
import subprocess
from collections.abc import Iterable
from functools import cache

from oracles import tshark
from oracles.tshark import Packet


def in_order(packets: Iterable[Packet]) -> list[Packet]:
    """By time, interface, 4-tuple, direction, sequence, acknowledgement."""
    packets = list(packets)
    if all(a.at_ns < b.at_ns for a, b in itertools.pairwise(packets)):
        return packets
    by_flow = sorted(packets, key=_flow)
    found: list[Packet] = []
    for _, group in itertools.groupby(by_flow, _flow):
        same = list(group)
        first = same[0]
        # Numbers wrap around: how far they lie from one of them orders them.
        same.sort(
            key=lambda packet: (
                _distance(packet.sequence, first.sequence),
                _distance(packet.acknowledgement, first.acknowledgement),
            )
        )
        found += same
    return found


def ordered(capture: pathlib.Path, directory: pathlib.Path) -> pathlib.Path:
    """The capture, or a copy in this order: of its TCP packets, as from one interface."""
    if _numbers(capture) == sorted(_numbers(capture)):
        return capture
    plain = directory / f"plain-{capture.name}"
    subprocess.run(["editcap", "-F", "nsecpcap", capture, plain], check=True)
    content = plain.read_bytes()
    records, at = [], 24
    while at < len(content):
        (length,) = struct.unpack_from("=I", content, at + 8)
        records.append(content[at : at + 16 + length])
        at += 16 + length
    copy = directory / capture.name
    copy.write_bytes(content[:24] + b"".join(records[number - 1] for number in _numbers(plain)))
    return copy


def _numbers(capture: pathlib.Path) -> list[int]:
    return [packet.number for packet in in_order(tshark.read(capture))]


def _flow(packet: Packet) -> tuple[object, ...]:
    address, port, other, other_port = packet.four_tuple
    source, destination = (_address(address), port), (_address(other), other_port)
    ends = sorted((source, destination))
    return packet.at_ns, packet.interface, ends, source > destination


@cache
def _address(text: str) -> tuple[int, int]:
    address = ipaddress.ip_address(text)
    return address.version, int(address)


def _distance(number: int, other: int) -> int:
    return (number - other + 2**31) % 2**32 - 2**31
