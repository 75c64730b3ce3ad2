"""MPTCP from the bytes of segments: keys, joins, mappings. RFC 8684, and RFC 6824 for version 0.

It knows no more than the captures of one connection hold, and takes nothing from the code under
test.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import struct
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from oracles.segments import ACK, SYN, Ends, Segment, ones_sum

CAPABLE, JOIN, DSS, ADD_ADDR = 0, 1, 2, 3


@dataclass(frozen=True)
class Mapping:
    """Data of a connection on a subflow."""

    dsn: int  # 64 bits
    sequence: int  # from the SYN's, 0 for a DATA_FIN by itself
    length: int  # of the option: with the DATA_FIN
    fin: bool
    checksum: int | None
    segment: Segment

    @property
    def bytes(self) -> int:
        return self.length - self.fin


@dataclass
class Subflow:
    ends: Ends  # opener first
    joins: bool = False
    by_client: bool = True  # whether the connection's client opened it
    initial: dict[bool, int] = field(default_factory=dict)  # sequence numbers, by whether opener's
    segments: list[Segment] = field(default_factory=list)
    mappings: dict[bool, list[Mapping]] = field(default_factory=lambda: defaultdict(list))

    def is_from_opener(self, segment: Segment) -> bool:
        return segment.ends == self.ends

    def payload(self, opener: bool) -> bytearray:
        """What one side sent, by its sequence numbers from the SYN's; every copy is the same."""
        found, known = bytearray(), bytearray()
        for segment in self.segments:
            if self.is_from_opener(segment) != opener or not segment.payload:
                continue
            assert len(segment.payload) == segment.length
            start = (segment.sequence - self.initial[opener]) % 2**32
            end = start + segment.length
            found += bytes(max(0, end - len(found)))
            known += bytes(max(0, end - len(known)))
            if any(known[start:end]):
                copy: zip[tuple[int, int, int]] = zip(
                    segment.payload, known[start:end], found[start:end], strict=True
                )
                assert all(byte == old for byte, seen, old in copy if seen)
            found[start:end] = segment.payload
            known[start:end] = b"\1" * segment.length
        return found


@dataclass
class Connection:
    """A connection, from a capture that has all of its packets at one end."""

    version: int = 1
    keys: dict[bool, bytes] = field(default_factory=dict)  # by whether the client's
    checksums: bool = False
    subflows: list[Subflow] = field(default_factory=list)

    def token(self, client: bool) -> int:
        return int.from_bytes(self._hash(client)[:4])

    def initial_dsn(self, client: bool) -> int:
        return int.from_bytes(self._hash(client)[-8:])

    def code(self, first: bool, message: bytes) -> bytes:
        """The HMAC, with this end's key in front (§3.2)."""
        key = self.keys[first] + self.keys[not first]
        return hmac.digest(key, message, self._algorithm())

    def _hash(self, client: bool) -> bytes:
        return hashlib.new(self._algorithm(), self.keys[client]).digest()

    def _algorithm(self) -> str:
        return "sha256" if self.version else "sha1"


def connections(segments: Iterable[Segment]) -> list[Connection]:
    """The connections, each with its first subflow and those that joined by its tokens."""
    flows: dict[frozenset[tuple[str, int]], Subflow] = {}
    for segment in segments:
        a, ap, b, bp = segment.ends
        key = frozenset(((a, ap), (b, bp)))
        opens = segment.flags & (SYN | ACK) == SYN
        if key not in flows:
            if not opens:
                # Its addresses changed on the way.
                continue
            flows[key] = Subflow(segment.ends)
        flow = flows[key]
        flow.segments.append(segment)
        if segment.flags & SYN:
            flow.initial.setdefault(flow.is_from_opener(segment), segment.sequence)
    found = []
    for flow in flows.values():
        connection = _opened(flow)
        if connection is not None:
            found.append(connection)
    by_token = {
        connection.token(client): (connection, client)
        for connection in found
        for client in (True, False)
    }
    for flow in flows.values():
        join = _option(flow.segments[0], JOIN)
        if join is not None:
            flow.joins = True
            connection, asked = by_token[int.from_bytes(join[2:6])]
            flow.by_client = not asked
            connection.subflows.append(flow)
    for connection in found:
        for flow in connection.subflows:
            _map(connection, flow)
    return found


def codes(connection: Connection) -> tuple[int, int]:
    """How many HMACs of joins and of announced addresses there are; each must be right."""
    joined = announced = 0
    for flow in connection.subflows:
        for segment in flow.segments:
            for option in segment.options:
                if option[0] >> 4 == ADD_ADDR and not (connection.version and option[0] & 1):
                    by_client = flow.is_from_opener(segment) == flow.by_client
                    announced += _check_address(connection, option, by_client)
        if flow.joins:
            joined += _check_join(connection, flow)
    return joined, announced


def _check_join(connection: Connection, flow: Subflow) -> int:
    # §3.2: the initiator of the join is A there, whichever end of the connection it is.
    syn = _option(flow.segments[0], JOIN)
    assert syn is not None
    nonce, checked = syn[6:10], 0
    answer = None
    for segment in flow.segments:
        option = _option(segment, JOIN)
        if option is None or segment.flags & (SYN | ACK) == SYN:
            continue
        if segment.flags & SYN:
            answer = option[10:14]
            right = connection.code(not flow.by_client, answer + nonce)[:8]
            assert option[2:10] == right
        else:
            assert answer is not None
            assert option[2:22] == connection.code(flow.by_client, nonce + answer)[:20]
        checked += 1
    return checked


def _check_address(connection: Connection, option: bytes, by_client: bool) -> bool:
    if connection.version == 0:
        # RFC 6824 §3.4.1: the IP version is told, and nothing else but identifier, address, port.
        assert len(option) + 2 in {4: (8, 10), 6: (20, 22)}[option[0] & 15]
        return False
    # §3.4.1: IP version by length, the port as 0 where there is none; the rightmost 64 bits.
    size = {16: 4, 18: 4, 28: 16, 30: 16}[len(option) + 2]
    address, rest = option[2 : 2 + size], option[2 + size :]
    port, code = (rest[:2], rest[2:]) if len(rest) == 10 else (bytes(2), rest)
    ipaddress.ip_address(address)
    assert code == connection.code(by_client, option[1:2] + address + port)[-8:]
    return True


def _opened(flow: Subflow) -> Connection | None:
    connection = Connection(subflows=[flow])
    for segment in flow.segments:
        capable = _option(segment, CAPABLE)
        if capable is None:
            continue
        if segment.flags & SYN and segment.flags & ACK:
            connection.version = capable[0] & 15
            connection.keys[False] = capable[2:10]
        elif segment.flags & SYN:
            # RFC 6824 §3.1: version 0 has the key here; RFC 8684 §3.1: version 1 has none yet.
            assert len(capable) == (10 if capable[0] & 15 == 0 else 2)
        else:
            connection.keys[True] = capable[2:10]
            assert capable[10:18] == connection.keys[False]
            connection.checksums = bool(capable[1] & 0x80)
    return connection if len(connection.keys) == 2 else None


def _map(connection: Connection, flow: Subflow) -> None:
    for segment in flow.segments:
        opener = flow.is_from_opener(segment)
        up = opener == flow.by_client
        first = connection.initial_dsn(up)
        capable = _option(segment, CAPABLE)
        if capable is not None and len(capable) > 18:
            # §3.1: data with the third ACK: length, and a checksum.
            (length,) = struct.unpack_from("!H", capable, 18)
            checksum = int.from_bytes(capable[20:22]) if len(capable) > 20 else None
            mapping = Mapping((first + 1) % 2**64, 1, length, False, checksum, segment)
            flow.mappings[opener].append(mapping)
        option = _option(segment, DSS)
        if option is not None and option[1] & 0x04:
            flow.mappings[opener].append(_mapping(option, first, segment))


def _mapping(option: bytes, first: int, segment: Segment) -> Mapping:
    flags = option[1]
    at = 2 + (0 if not flags & 0x01 else 8 if flags & 0x02 else 4)
    if flags & 0x08:
        dsn, at = int.from_bytes(option[at : at + 8]), at + 8
    else:
        low, at = int.from_bytes(option[at : at + 4]), at + 4
        # No transfer here is longer than 2³¹ bytes.
        dsn = (first + (low - first + 2**31) % 2**32 - 2**31) % 2**64
    sequence, length = struct.unpack_from("!IH", option, at)
    rest = option[at + 6 :]
    assert len(rest) in (0, 2)
    checksum = int.from_bytes(rest) if rest else None
    return Mapping(dsn, sequence, length, bool(flags & 0x10), checksum, segment)


def checksum_is_right(mapping: Mapping, payload: bytes) -> bool:
    """§3.3.1: over the 64-bit DSN, the subflow sequence number, the length, 0, and the data."""
    head = struct.pack("!QIHH", mapping.dsn, mapping.sequence, mapping.length, 0)
    assert mapping.checksum is not None
    content = head + payload + bytes(len(payload) % 2) + struct.pack("!H", mapping.checksum)
    return ones_sum(content) == 0xFFFF


def _option(segment: Segment, subtype: int) -> bytes | None:
    return next((option for option in segment.options if option[0] >> 4 == subtype), None)
