"""Small captures made of segments: pcap of raw IPv4, microseconds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HEADER = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000065000000")
FIN, SYN, ACK, PSH = 1, 2, 16, 8
CLIENT, SERVER = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])


@dataclass(frozen=True)
class Segment:
    """A TCP segment at a time, from the client's port or to it; sequence numbers count from 0."""

    at_us: int
    port: int
    flags: int
    seq: int = 0
    ack: int = 0
    length: int = 0
    from_server: bool = False


def write(path: Path, segments: list[Segment]) -> Path:
    """Write the segments, payload left out as a snap length does."""
    path.write_bytes(HEADER + b"".join(map(_record, segments)))
    return path


def exchange(port: int, at_us: int, size: int) -> list[Segment]:
    """A connection whose server sends ``size`` bytes and closes; captured at the client."""
    trip, late = 10_000, at_us + 20_000

    def up(at: int, flags: int, seq: int = 0, ack: int = 0) -> Segment:
        return Segment(at, port, flags, seq, ack)

    def down(at: int, flags: int, seq: int = 0, ack: int = 0, length: int = 0) -> Segment:
        return Segment(at, port, flags, seq, ack, length, from_server=True)

    return [
        up(at_us, SYN),
        down(at_us + trip, SYN | ACK, ack=1),
        up(at_us + trip + 10, ACK, seq=1, ack=1),
        down(late, ACK | PSH, seq=1, ack=1, length=size),
        up(late + 10, ACK, seq=1, ack=1 + size),
        down(late + 20, FIN | ACK, seq=1 + size, ack=1),
        up(late + 30, FIN | ACK, seq=1, ack=2 + size),
        down(late + trip, ACK, seq=2 + size, ack=2),
    ]


def _record(segment: Segment) -> bytes:
    ports = (segment.port, 80)
    source, destination = (SERVER, CLIENT) if segment.from_server else (CLIENT, SERVER)
    sport, dport = reversed(ports) if segment.from_server else ports
    tcp = b"".join(
        [
            sport.to_bytes(2),
            dport.to_bytes(2),
            _number(segment, segment.seq).to_bytes(4),
            _number(segment, segment.ack).to_bytes(4),
            bytes([0x50, segment.flags]),
            bytes.fromhex("ffff00000000"),
        ]
    )
    length = 40 + segment.length
    ip = b"\x45\0" + length.to_bytes(2) + bytes.fromhex("0000400040060000") + source + destination
    seconds, micros = divmod(segment.at_us, 1_000_000)
    fields = (seconds, micros, 40, length)
    return b"".join(field.to_bytes(4, "little") for field in fields) + ip + tcp


def _number(segment: Segment, count: int) -> int:
    """A sequence number as on the wire: every connection starts at its own."""
    return (segment.port * 1_000_003 + count) % 2**32
