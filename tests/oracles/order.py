"""The order that the analysis goes by: of time, and of packets with one time a fixed one.

tshark and tcptrace take packets as they stand in the file. Where that is another order they are
given a copy in this one.
"""

from __future__ import annotations

import pathlib
import struct
import subprocess
from collections.abc import Iterable

from oracles import tshark
from oracles.tshark import Packet


def in_order(packets: Iterable[Packet]) -> list[Packet]:
    """By time and interface; those of one interface as they stand in the file."""
    return sorted(packets, key=lambda packet: (packet.at_ns, packet.interface))


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
