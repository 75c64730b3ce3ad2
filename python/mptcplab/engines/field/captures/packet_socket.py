"""Captures with a packet socket (packet(7)), which needs CAP_NET_RAW."""

from __future__ import annotations

import contextlib
import ctypes
import socket
import struct
import time

from mptcplab.engines.field.captures.packet import LOOPBACK, OUTGOING, Packet, ip_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ALL = 0x0003
# linux/if_packet.h, asm-generic/socket.h.
SOL_PACKET, PACKET_STATISTICS = 263, 6
SO_ATTACH_FILTER, SO_TIMESTAMPNS, SO_RCVBUFFORCE = 26, 35, 33
_TIME = struct.Struct("=qq")
BUFFER_BYTES = 64 << 20
WHOLE_BYTES = 1 << 16

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
    # A jump is counted from the line after it.
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

    def __init__(self, port: int, snap: int, buffer_bytes: int = BUFFER_BYTES) -> None:
        self._socket = _opened(port, snap, buffer_bytes)
        self._memory = bytearray(WHOLE_BYTES + 64)
        self._dropped = 0

    def fileno(self) -> int:
        """Give the socket's."""
        return self._socket.fileno()

    def take(self) -> Iterator[Packet]:
        """Give what has come."""
        with contextlib.suppress(BlockingIOError):
            while True:
                count, control, _, place = self._socket.recvmsg_into([self._memory], 64)
                name, out = place[0], place[2] == OUTGOING
                if name == LOOPBACK and out:
                    continue
                at_ns = time.time_ns()
                for level, kind, data in control:
                    if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
                        seconds, nanos = _TIME.unpack(data)
                        at_ns = seconds * 10**9 + nanos
                packet = memoryview(self._memory)[:count]
                yield Packet(name, out, at_ns, max(ip_bytes(packet), count), packet)

    def finish(self) -> tuple[list[Packet], int]:
        """Close it."""
        last = [one._replace(data=bytes(one.data)) for one in self.take()]
        dropped = self.dropped()
        self._socket.close()
        return last, dropped

    def dropped(self) -> int:
        """Ask the kernel, which counts from when it was asked last."""
        statistics = self._socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8)
        self._dropped += int(struct.unpack("=II", statistics)[1])
        return self._dropped


def _opened(port: int, snap: int, buffer_bytes: int) -> socket.socket:
    # Of all interfaces, from now on.
    made = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ALL))
    with contextlib.suppress(OSError):
        made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, buffer_bytes)
    made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    code = b"".join(struct.pack("=HBBI", *line) for line in program(port, snap))
    memory = ctypes.create_string_buffer(code)
    fprog = struct.pack("@HxxxxxxQ", len(code) // 8, ctypes.addressof(memory))
    made.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, fprog)
    made.setblocking(False)
    # What came before the filter is none of ours.
    with contextlib.suppress(BlockingIOError):
        while True:
            made.recv(1)
    return made
