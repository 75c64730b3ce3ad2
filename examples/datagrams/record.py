"""Records a call over UDP, and a download over QUIC whose client moves, at both ends.

``record.py DIRECTORY``, with a python that has aioquic. Time is virtual: every datagram takes the
time and meets the loss that is written here. ``truth.json`` says what became of them.
"""

from __future__ import annotations

import datetime
import gzip
import heapq
import itertools
import json
import random
import struct
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import StreamDataReceived
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

BEGAN_S = 1_800_000_000
# The server's clock is late.
BEHIND_S = 0.003
# IP, UDP, and what tells datagrams apart.
SNAP = 96
# What is held up waits so long.
HELD_S = 0.025
BYTES = 400_000
MOVES_S = 0.35
# Timers are floating-point numbers: none comes too early.
MICROSECOND_S = 1e-6
SERVER = ("203.0.113.1", 443)
CLIENTS = {"wifi": ("192.0.2.18", 50000), "lte": ("198.51.100.7", 50000)}
CALL = {"client": ("192.0.2.18", 5004), "server": ("203.0.113.2", 5004)}


@dataclass
class Link:
    """A direction of a path; a datagram may be held up, so that others overtake it."""

    rate_bps: float
    delay_s: float
    loss: float
    held: float = 0.0
    free_s: float = 0.0
    arrivals: list[float] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def arrival(self, now: float, size: int, dice: random.Random) -> float | None:
        """Give when a datagram arrives, if it does."""
        self.free_s = max(now, self.free_s) + (size + 28) * 8 / self.rate_bps
        self.counts["sent"] += 1
        if dice.random() < self.loss:
            self.counts["lost"] += 1
            return None
        held_s = HELD_S if dice.random() < self.held else 0.0
        self.arrivals.append(self.free_s + self.delay_s + held_s)
        return self.arrivals[-1]

    def truth(self) -> dict[str, int]:
        """Give what became of the datagrams; reordered is what arrived after a later one."""
        latest, reordered = -1, 0
        for _, number in sorted((at, number) for number, at in enumerate(self.arrivals)):
            reordered += number < latest
            latest = max(latest, number)
        names = ("sent", "lost")
        return {**{name: self.counts[name] for name in names}, "reordered": reordered}


def certificate(directory: Path) -> tuple[Path, Path]:
    """Make a certificate that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    today = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).serial_number(1)
    made = made.public_key(key.public_key()).not_valid_before(today)
    signed = made.not_valid_after(today + datetime.timedelta(days=9999)).sign(key, hashes.SHA256())
    files = directory / "cert.pem", directory / "key.pem"
    files[0].write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    plain = serialization.NoEncryption()
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
    return files


class World:
    """Two hosts, what is between them, and a capture at each."""

    def __init__(self, directory: Path) -> None:
        self.dice = random.Random(8)
        self.queue: list[tuple[float, int, Any]] = []
        self.order = itertools.count()
        self.seen: dict[str, list[tuple[float, bytes, int]]] = {"client": [], "server": []}
        self.links = {
            ("wifi", "up"): Link(20e6, 0.012, 0.01),
            ("wifi", "down"): Link(20e6, 0.012, 0.02, held=0.01),
            ("lte", "up"): Link(8e6, 0.030, 0.0),
            ("lte", "down"): Link(8e6, 0.030, 0.005),
            ("call", "up"): Link(5e6, 0.015, 0.02, held=0.04),
            ("call", "down"): Link(5e6, 0.015, 0.0),
        }
        cert, key = certificate(directory)
        ours = QuicConfiguration(is_client=True, alpn_protocols=["lab"], verify_mode=0)
        theirs = QuicConfiguration(is_client=False, alpn_protocols=["lab"])
        theirs.load_cert_chain(cert, key)
        self.client = QuicConnection(configuration=ours)
        self.server_configuration = theirs
        self.server: QuicConnection | None = None
        self.path = "wifi"  # the client's
        self.timers: dict[str, float] = {}
        self.received = 0

    def at(self, when: float, what: Any) -> None:
        """Have something done."""
        heapq.heappush(self.queue, (when, next(self.order), what))

    def send(self, now: float, path: str, up: bool, ends: Any, payload: bytes, then: Any) -> None:
        """Send a datagram from one of the (client's, server's) ends to the other."""
        link = self.links[path, "up" if up else "down"]
        source, destination = ends if up else reversed(ends)
        frame = packet(source, destination, payload)
        here, there = ("client", "server") if up else ("server", "client")
        self.seen[here].append((now, frame, len(payload)))
        arrival = link.arrival(now, len(payload), self.dice)
        if arrival is not None:

            def arrive(at: float) -> None:
                self.seen[there].append((at, frame, len(payload)))
                then(at)

            self.at(arrival, arrive)

    def flush(self, now: float, role: str) -> None:
        """Send what an end has to send, and wait as it asks."""
        quic = self.client if role == "client" else self.server
        if quic is None:
            return
        other = "server" if role == "client" else "client"
        for payload, address in quic.datagrams_to_send(now):
            path = next((name for name, end in CLIENTS.items() if end == address), self.path)
            ends = (CLIENTS[path], SERVER)
            source = CLIENTS[path] if role == "client" else SERVER

            def then(at: float, payload: bytes = payload, source: Any = source) -> None:
                self.arrived(at, other, payload, source)

            self.send(now, path, role == "client", ends, payload, then)
        timer = quic.get_timer()
        if timer is not None and timer != self.timers.get(role):
            self.timers[role] = timer
            self.at(max(timer, now) + MICROSECOND_S, lambda at: self.wake(at, role, timer))

    def wake(self, now: float, role: str, timer: float) -> None:
        """Call an end whose timer is due."""
        quic = self.client if role == "client" else self.server
        if quic is not None and quic.get_timer() == timer:
            self.timers.pop(role, None)
            quic.handle_timer(now)
            self.flush(now, role)

    def arrived(self, now: float, role: str, payload: bytes, source: Any) -> None:
        """Give an end a datagram."""
        if role == "server" and self.server is None:
            first = payload[6 : 6 + payload[5]]
            self.server = QuicConnection(
                configuration=self.server_configuration,
                original_destination_connection_id=first,
            )
        quic = self.client if role == "client" else self.server
        assert quic is not None
        quic.receive_datagram(payload, source, now)
        while (event := quic.next_event()) is not None:
            if not isinstance(event, StreamDataReceived):
                continue
            if role == "client":
                self.received += len(event.data)
            elif event.end_stream:
                quic.send_stream_data(event.stream_id, bytes(BYTES), end_stream=True)
        self.flush(now, role)

    def move(self, now: float) -> None:
        """Have the client go on over LTE, with another connection ID (RFC 9000 section 9.5)."""
        self.path = "lte"
        self.client.change_connection_id()
        self.client.send_ping(1)
        self.flush(now, "client")

    def run(self) -> None:
        """Let it happen."""
        for number in range(100):
            payload = struct.pack(">BBHII", 0x80, 0x60, number, number * 160, 7) + bytes(160)
            ends = (CALL["client"], CALL["server"])

            def call(at: float, payload: bytes = payload, ends: Any = ends) -> None:
                self.send(at, "call", True, ends, payload, lambda _: None)

            self.at(0.02 * number, call)
            if number == 0 or number % 50 == 49:
                # Reports go back (RFC 3550 section 6).
                report = struct.pack(">BBHI", 0x81, 0xC9, 7, number) + bytes(24)

                def answer(at: float, report: bytes = report, ends: Any = ends) -> None:
                    self.send(at, "call", False, ends, report, lambda _: None)

                self.at(0.02 * number + 0.02, answer)
        self.client.connect(SERVER, now=0.0)
        self.client.send_stream_data(0, b"get", end_stream=True)
        self.flush(0.0, "client")
        self.at(MOVES_S, self.move)
        while self.queue and self.queue[0][0] < 2.1:
            now, _, what = heapq.heappop(self.queue)
            what(now)


def packet(source: Any, destination: Any, payload: bytes) -> bytes:
    """Give an IPv4 packet."""
    ends = [ip_address(end[0]).packed for end in (source, destination)]
    udp = struct.pack(">HHHH", source[1], destination[1], 8 + len(payload), 0)
    total = 20 + len(udp) + len(payload)
    head = struct.pack(">BBHHHBBH", 0x45, 0, total, 0, 0x4000, 64, 17, 0) + ends[0] + ends[1]
    summed = sum(struct.unpack(">10H", head))
    while summed >> 16:
        summed = (summed & 0xFFFF) + (summed >> 16)
    return head[:10] + struct.pack(">H", summed ^ 0xFFFF) + head[12:] + udp + payload


def write(path: Path, seen: list[tuple[float, bytes, int]], late_s: float) -> None:
    """Write a capture of raw IP."""
    out = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, SNAP, 101)
    for at, frame, _ in sorted(seen, key=lambda one: one[0]):
        ns = BEGAN_S * 10**9 + round((at - late_s) * 1e9)
        kept = frame[:SNAP]
        out += struct.pack("<IIII", ns // 10**9, ns % 10**9, len(kept), len(frame)) + kept
    path.write_bytes(gzip.compress(out, mtime=0))


def main() -> None:
    """Record both ends."""
    directory = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        world = World(Path(scratch))
        world.run()
    write(directory / "client.pcap.gz", world.seen["client"], 0.0)
    write(directory / "server.pcap.gz", world.seen["server"], BEHIND_S)
    truth = {" ".join(name): link.truth() for name, link in world.links.items()}
    (directory / "truth.json").write_text(json.dumps(truth, indent=2) + "\n")


main()
