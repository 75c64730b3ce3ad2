"""TCP segments from the bytes of a capture of raw IP packets, by nothing but the RFCs."""

from __future__ import annotations

import ipaddress
import pathlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from oracles.pieces import INTERFACE, PACKET

FIN, SYN, RST, ACK = 1, 2, 4, 16
NAME, FLAGS, MPTCP = 2, 2, 30
TCP = 6

Ends = tuple[str, int, str, int]


@dataclass(frozen=True)
class Segment:
    """One TCP segment. Sequence numbers are as on the wire."""

    number: int  # in the capture, from 1
    at_ns: int
    interface: str
    outbound: bool
    packet: bytes  # from the IP header on, as far as it was captured
    wire_bytes: int  # of the IP packet on the wire

    @cached_property
    def _ip_length(self) -> int:
        return (self.packet[0] & 15) * 4 if self.packet[0] >> 4 == 4 else 40

    @cached_property
    def ends(self) -> Ends:
        """Sender first."""
        v4 = self.packet[0] >> 4 == 4
        source, target = (
            (self.packet[12:16], self.packet[16:20])
            if v4
            else (self.packet[8:24], self.packet[24:40])
        )
        port, other = struct.unpack("!HH", self.tcp[:4])
        return str(ipaddress.ip_address(source)), port, str(ipaddress.ip_address(target)), other

    @cached_property
    def tcp(self) -> bytes:
        return self.packet[self._ip_length :]

    @cached_property
    def sequence(self) -> int:
        return int.from_bytes(self.tcp[4:8])

    @cached_property
    def acknowledgement(self) -> int:
        return int.from_bytes(self.tcp[8:12])

    @cached_property
    def flags(self) -> int:
        return self.tcp[13]

    @cached_property
    def _header_length(self) -> int:
        return (self.tcp[12] >> 4) * 4

    @cached_property
    def payload(self) -> bytes:
        return self.tcp[self._header_length :]

    @cached_property
    def length(self) -> int:
        """Bytes of payload on the wire."""
        return self.wire_bytes - self._ip_length - self._header_length

    @cached_property
    def options(self) -> list[bytes]:
        """What MPTCP options hold, without kind and length."""
        return [value for kind, value in self.all_options() if kind == MPTCP]

    def all_options(self) -> Iterator[tuple[int, bytes]]:
        """Kind and content, none but those that end within the header."""
        at, end = 20, self._header_length
        while at < end and self.tcp[at]:
            if self.tcp[at] == 1:
                at += 1
                continue
            length = self.tcp[at + 1]
            assert 2 <= length <= end - at
            yield self.tcp[at], self.tcp[at + 2 : at + length]
            at += length

    @cached_property
    def identity(self) -> bytes:
        """What stays the same on the way, past address translation: no addresses, no checksum."""
        return self.tcp[:16] + self.tcp[18:]

    def has_right_checksums(self) -> bool:
        """Of the IPv4 header and of TCP (RFC 1071, RFC 9293 §3.1, RFC 8200 §8.1)."""
        if self.packet[0] >> 4 == 4:
            addresses = self.packet[12:20]
            if ones_sum(self.packet[: self._ip_length]) != 0xFFFF:
                return False
        else:
            addresses = self.packet[8:40]
        pseudo = addresses + struct.pack("!II", len(self.tcp), TCP)
        return ones_sum(pseudo + self.tcp) == 0xFFFF


def ones_sum(content: bytes) -> int:
    """The ones' complement sum of 16-bit words."""
    content += bytes(len(content) % 2)
    total: int = sum(struct.unpack(f"!{len(content) // 2}H", content))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def read(capture: pathlib.Path) -> list[Segment]:
    """All TCP segments of a pcapng of raw IP packets, in the order of the file."""
    content = capture.read_bytes()
    names, found, at, number = [], [], 0, 0
    while at < len(content):
        kind, length = struct.unpack_from("=II", content, at)
        if kind == INTERFACE:
            names.append(_options(content[at + 16 : at + length - 4])[NAME].decode())
        elif kind == PACKET:
            number += 1
            interface, high, low, kept, whole = struct.unpack_from("=IIIII", content, at + 8)
            packet = content[at + 28 : at + 28 + kept]
            options = _options(content[at + 28 + (kept + 3) // 4 * 4 : at + length - 4])
            (flags,) = struct.unpack("=I", options[FLAGS])
            protocol = packet[9] if packet[0] >> 4 == 4 else packet[6]
            if protocol == TCP:
                name = names[interface]
                at_ns = high << 32 | low
                found.append(Segment(number, at_ns, name, flags & 3 == 2, packet, whole))
        at += length
    return found


def _options(content: bytes) -> dict[int, bytes]:
    found, at = {}, 0
    while at + 4 <= len(content):
        code, length = struct.unpack_from("=HH", content, at)
        found[code] = content[at + 4 : at + 4 + length]
        at += 4 + (length + 3) // 4 * 4
    return found
