"""What runs in the namespaces of `emulation.py`; each role prints one line of JSON."""

from __future__ import annotations

import json
import socket
import struct
import sys
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK_BYTES = 1 << 20
# No more of them come.
QUIET_SECONDS = 1.5
# SO_TIMESTAMPNS and SO_RCVBUFFORCE of asm-generic/socket.h.
STAMPS, BUFFER = 35, 33


def main() -> None:
    role, *arguments = sys.argv[1:]
    print(json.dumps(ROLES[role](*arguments)), flush=True)


def sink(address: str, skip_s: str, most_s: str) -> dict[str, float]:
    """Receives a stream; of what comes from `skip_s` to `most_s` after its beginning, bytes and seconds."""
    with socket.create_server((address, 5001)) as listener:
        print("ready", flush=True)
        connection, _ = listener.accept()
    buffer = bytearray(BLOCK_BYTES)
    begun = time.monotonic()
    bytes_, first, last = 0, None, begun
    while length := connection.recv_into(buffer):
        now = time.monotonic()
        if now - begun > float(most_s):
            break
        if first is not None:
            bytes_, last = bytes_ + length, now
        elif now - begun > float(skip_s):
            first = now
    return {"bytes": bytes_, "seconds": last - (first or last)}


def source(local: str, address: str, seconds: str) -> dict[str, float]:
    """Sends as much as it can."""
    block = bytes(BLOCK_BYTES // 4)
    sent, end = 0, time.monotonic() + float(seconds)
    connection = socket.create_connection((address, 5001), source_address=(local, 0))
    # It fills the queue, so that what is measured is the link and not what TCP makes of pauses.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    try:
        while time.monotonic() < end:
            sent += connection.send(block)
    except ConnectionError:
        pass  # the sink has seen enough
    return {"bytes": sent}


def pings(address: str, number: str, interval_s: str) -> list[tuple[int, int]]:
    """When each was sent and when the kernel had its answer, in ns since 1970; none for those without."""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
        raw.setsockopt(socket.SOL_SOCKET, STAMPS, 1)
        raw.settimeout(0.5)
        found = []
        for sequence in range(int(number)):
            packet = struct.pack("!BBHHH", 8, 0, 0, 77, sequence)
            packet = struct.pack("!BBHHH", 8, 0, _checksum(packet), 77, sequence)
            sent_ns = time.time_ns()
            raw.sendto(packet, (address, 0))
            while answer := _answer(raw):
                if answer[0] == sequence:
                    found.append((sent_ns, answer[1]))
                    break
            time.sleep(float(interval_s))
    return found


def _checksum(packet: bytes) -> int:
    total = sum(struct.unpack(f"!{len(packet) // 2}H", packet))
    return int(~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)


def _answer(raw: socket.socket) -> tuple[int, int] | None:
    """Number of an answer, and when it came."""
    try:
        packet, ancillary, _, _ = raw.recvmsg(200, 200)
    except TimeoutError:
        return None
    kind, _, _, identity, sequence = struct.unpack_from("!BBHHH", packet, 20)
    return (sequence if (kind, identity) == (0, 77) else -1, _stamp(ancillary[0][2]))


def _stamp(timespec: bytes) -> int:
    seconds, nanos = struct.unpack("qq", timespec[:16])
    return int(seconds) * 10**9 + int(nanos)


def blast(local: str, address: str, number: str, per_second: str, size: str) -> dict[str, float]:
    """Sends datagrams of `size` bytes with their IP header, evenly in bunches of a millisecond."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.bind((local, 0))
        block, begun, sent = bytes(int(size) - 28), time.monotonic(), 0
        while sent < int(number):
            due = min(int(number), int((time.monotonic() - begun) * float(per_second)) + 1)
            for _ in range(sent, due):
                sender.sendto(block, (address, 5002))
            sent = due
            time.sleep(0.001)
    return {"sent": sent}


def count(address: str) -> dict[str, object]:
    """Counts datagrams until none came for a while, and gives the times of their arrival in ns."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.setsockopt(socket.SOL_SOCKET, STAMPS, 1)
        with suppress(PermissionError):
            receiver.setsockopt(socket.SOL_SOCKET, BUFFER, 64 << 20)
        receiver.bind((address, 5002))
        print("ready", flush=True)
        times = []
        receiver.settimeout(20)
        try:
            while True:
                _, ancillary, _, _ = receiver.recvmsg(2048, 200)
                times.append(_stamp(ancillary[0][2]))
                receiver.settimeout(QUIET_SECONDS)
        except TimeoutError:
            return {"times": times}


ROLES: dict[str, Callable[..., object]] = {
    "sink": sink,
    "source": source,
    "pings": pings,
    "blast": blast,
    "count": count,
}

if __name__ == "__main__":
    main()
