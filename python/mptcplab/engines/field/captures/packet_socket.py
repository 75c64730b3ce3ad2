"""Captures with a packet socket and its ring (packet(7), TPACKET_V3), which needs CAP_NET_RAW.

The memory of a ring is not limited by ``net.core.rmem_max``, as that of a socket is: a reader that
waits for a processor loses no packets.
"""

from __future__ import annotations

import ctypes
import mmap
import socket
import struct
import time
from collections.abc import Iterator

from mptcplab.engines.field.captures.packet import (
    LOOPBACK,
    OUTGOING,
    Packet,
    interface_name,
    ip_bytes,
)

ALL = 0x0003
# linux/if_packet.h, asm-generic/socket.h.
SOL_PACKET, PACKET_RX_RING, PACKET_STATISTICS, PACKET_VERSION = 263, 5, 6, 10
TPACKET_V3 = 2
SO_ATTACH_FILTER, SO_TIMESTAMPNS = 26, 35
# struct tpacket_req3: bytes and number of blocks, bytes and number of frames (these only have to
# fill the blocks), milliseconds until a block is given that is not full, and no more.
_REQUEST = struct.Struct("=7I")
# A block is given after a while, full or not: many small ones hold half a minute of a few packets
# for a reader that waits, and each takes the largest packet that is kept whole.
BLOCK_BYTES = 1 << 17
BLOCKS = 512
FRAME_BYTES = 1 << 11
BLOCK_MS = 50
# struct tpacket_block_desc: status, number of packets, and where the first is.
_BLOCK = struct.Struct("=8x3I")
STATUS_AT, TO_KERNEL, TO_USER = 8, bytes(4), 1
# struct tpacket3_hdr: how far the next is, time, bytes kept and bytes it had, where it begins.
_PACKET = struct.Struct("=5I6xH")
# struct sockaddr_ll, aligned behind it: the interface, and the kind of packet.
ADDRESS_AT = 48
_ADDRESS = struct.Struct("=4xi2xB")

# Classic BPF: loads, jumps, returns.
LD_H, LD_B, LDX_IP, LD_H_X, AND, RET = 0x28, 0x30, 0xB1, 0x48, 0x54, 0x06
JEQ = 0x15


def program(port: int, snap: int) -> list[tuple[int, int, int, int]]:
    """Give the filter: TCP from or to the port, over IPv4 and IPv6, cut after ``snap`` bytes.

    Of IPv6 the header of TCP follows that of IP: extension headers are not looked through.
    """
    take, drop = 17, 18
    lines: list[tuple[int, int | None, int | None, int]] = [
        (LD_B, None, None, 0),
        (AND, None, None, 0xF0),
        (JEQ, 3, 10, 0x40),
        (LD_B, None, None, 9),
        (JEQ, 5, drop, socket.IPPROTO_TCP),
        (LDX_IP, None, None, 0),
        (LD_H_X, None, None, 0),
        (JEQ, take, 8, port),
        (LD_H_X, None, None, 2),
        (JEQ, take, drop, port),
        (JEQ, 11, drop, 0x60),
        (LD_B, None, None, 6),
        (JEQ, 13, drop, socket.IPPROTO_TCP),
        (LD_H, None, None, 40),
        (JEQ, take, 15, port),
        (LD_H, None, None, 42),
        (JEQ, take, drop, port),
        (RET, None, None, snap),
        (RET, None, None, 0),
    ]
    # Jumps are relative to the next instruction.
    return [
        (code, 0 if yes is None else yes - at, 0 if no is None else no - at, value)
        for at, (code, yes, no, value) in enumerate(lines, 1)
    ]


class PacketSocket:
    """One socket for all interfaces, so that packets come in order.

    Raises:
        OSError: We may not.
    """

    by = "AF_PACKET"

    def __init__(self, port: int, snap: int) -> None:
        self._socket = _opened(port, snap)
        self._ring = mmap.mmap(self._socket.fileno(), BLOCKS * BLOCK_BYTES)
        #: The block that is given next.
        self._next = 0
        self._dropped = 0

    def fileno(self) -> int:
        """Give the descriptor of the socket."""
        return self._socket.fileno()

    def take(self) -> Iterator[Packet]:
        """Give what has come."""
        with memoryview(self._ring) as ring:
            while True:
                start = self._next * BLOCK_BYTES
                status, count, first = _BLOCK.unpack_from(ring, start)
                if not status & TO_USER:
                    return
                yield from _packets(ring, start + first, count)
                ring[start + STATUS_AT : start + STATUS_AT + 4] = TO_KERNEL
                self._next = (self._next + 1) % BLOCKS

    def finish(self) -> tuple[list[Packet], int]:
        """Close it, once the kernel has released the block with the last packets."""
        time.sleep(3 * BLOCK_MS / 1000)
        last = [one._replace(data=bytes(one.data)) for one in self.take()]
        dropped = self.dropped()
        self._ring.close()
        self._socket.close()
        return last, dropped

    def dropped(self) -> int:
        """Ask the kernel, which counts from when it was asked last."""
        statistics = self._socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 12)
        self._dropped += int(struct.unpack("=3I", statistics)[1])
        return self._dropped


def _packets(ring: memoryview, at: int, count: int) -> Iterator[Packet]:
    """Read the packets of a block."""
    for _ in range(count):
        step, seconds, nanoseconds, captured, length, start = _PACKET.unpack_from(ring, at)
        number, kind = _ADDRESS.unpack_from(ring, at + ADDRESS_AT)
        name, out = interface_name(number), kind == OUTGOING
        data = ring[at + start : at + start + captured]
        at += step
        if not (name == LOOPBACK and out):
            yield Packet(
                name, out, seconds * 10**9 + nanoseconds, max(ip_bytes(data), length), data
            )


def _opened(port: int, snap: int) -> socket.socket:
    # Of all interfaces, from now on.
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ALL))
    try:
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        code = b"".join(struct.pack("=HBBI", *line) for line in program(port, snap))
        memory = ctypes.create_string_buffer(code)
        fprog = struct.pack("@HxxxxxxQ", len(code) // 8, ctypes.addressof(memory))
        sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, fprog)
        # Packets from before the filter are not ours: they stay out of the ring.
        sock.setsockopt(SOL_PACKET, PACKET_VERSION, struct.pack("=I", TPACKET_V3))
        frames = BLOCKS * BLOCK_BYTES // FRAME_BYTES
        request = _REQUEST.pack(BLOCK_BYTES, BLOCKS, FRAME_BYTES, frames, BLOCK_MS, 0, 0)
        sock.setsockopt(SOL_PACKET, PACKET_RX_RING, request)
    except OSError:
        sock.close()
        raise
    return sock
