"""At which end was a capture taken? Simulated captures, whose end is known, whole and in pieces of a few packets."""

from __future__ import annotations

import random
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import mptcplab
from mptcplab import _core
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

FLAGS, SYN = 33, 2  # of TCP, after IPv4 without options
PACKET = 6  # the kind of block that pcapng has packets in
NANOSECONDS, RAW_IP = 0xA1B23C4D, 101  # of pcap, which says of no packet which way it went
# One-way; so round trips are of twice that.
DELAYS_MS: tuple[float, ...] = (0.2, 0.5, 1, 3, 10, 20, 50, 150, 200)
DELAYED_ACKS = ("40 ms", "200 ms", "off")
# Request, response, how many, and the pause between them.
EXCHANGES = (("300 B", "60 kB", 20, "20 ms"), ("5 kB", "5 kB", 60, "5 ms"))
LENGTHS = (12, 40, 150, 600)


class Said(NamedTuple):
    """What was said of a piece: with a handshake in it or not, how surely, and whether that is right."""

    handshake: bool
    confidence: float
    #: None where nothing is said.
    right: bool | None


class Packet(NamedTuple):
    """A packet of a capture, from its IP header on."""

    at_ns: int
    data: bytes
    length: int


def counted(
    directory: Path, delays_ms: Sequence[float] = DELAYS_MS, pieces: int = 4
) -> Counter[Said]:
    """Count what is said of the beginning of each capture, and of so many pieces of each length without a handshake."""
    chance = random.Random(1)
    counts = Counter[Said]()
    for end, packets in captures(directory, delays_ms):
        late = [packet for packet in packets if not packet.data[FLAGS] & SYN]
        cuts = [(True, packets[: LENGTHS[-1]])]
        for length in (length for length in LENGTHS if length <= len(late)):
            for _ in range(pieces):
                first = chance.randrange(len(late) - length + 1)
                cuts.append((False, late[first : first + length]))
        for handshake, cut in cuts:
            file = write(cut, directory / "cut.pcap")
            (row,) = mptcplab.analyze(file).connections.iter_rows(named=True)
            right = None if row["vantage"] is None else row["vantage"] == end
            counts[Said(handshake, round(row["vantage_confidence"] or 0.0, 2), right)] += 1
    return counts


def captures(directory: Path, delays_ms: Sequence[float]) -> Iterator[tuple[str, list[Packet]]]:
    """Simulate, and give each end with the packets of its capture."""
    for delay_ms in delays_ms:
        for delayed_ack in DELAYED_ACKS:
            for exchange in EXCHANGES:
                files = {end: directory / f"{end}.pcapng" for end in ("client", "server")}
                table = scenario(delay_ms, delayed_ack, exchange)
                _core.simulate(
                    plan(load(table)[1], 1, None),
                    client_capture=files["client"],
                    server_capture=files["server"],
                )
                yield from ((end, read(file)) for end, file in files.items())


def scenario(
    delay_ms: float, delayed_ack: str, exchange: tuple[str, str, int, str]
) -> dict[str, object]:
    """Describe requests and responses over one path."""
    request, response, requests, think = exchange
    return {
        "schema": 1,
        "transfer": {
            "application": "request-response",
            "direction": "download",
            "request": request,
            "response": response,
            "requests": requests,
            "think": think,
        },
        "path": {
            "wifi": {
                "rate": "30 Mbit/s",
                "delay": f"{delay_ms:g} ms",
                "jitter": "1 ms",
                "queue": "200 kB",
            }
        },
        "tcp": {"delayed_ack": delayed_ack},
    }


def read(capture: Path) -> list[Packet]:
    """Read the packets of a simulated capture, which has them in one kind of block."""
    content = capture.read_bytes()
    packets, at = [], 0
    while at < len(content):
        kind, size = struct.unpack_from("=II", content, at)
        if kind == PACKET:
            _, high, low, kept, length = struct.unpack_from("=IIIII", content, at + 8)
            data = content[at + 28 : at + 28 + kept]
            packets.append(Packet(high << 32 | low, data, length))
        at += size
    return packets


def write(packets: Sequence[Packet], file: Path) -> Path:
    """Write packets as pcap."""
    blocks = [struct.pack("=IHHiIII", NANOSECONDS, 2, 4, 0, 0, 65535, RAW_IP)]
    for packet in packets:
        seconds, ns = divmod(packet.at_ns, 10**9)
        blocks.append(struct.pack("=IIII", seconds, ns, len(packet.data), packet.length))
        blocks.append(packet.data)
    file.write_bytes(b"".join(blocks))
    return file
