"""The recorder: writes the TCP packets of one port as they pass interfaces of this host.

``python -m mptcplab.engines.field.recorder`` is told a JSON line: ``{"file": path, "host":
"client", "interfaces": {name: as it is called}, or null for all, "port": n, "snap": n}``. It says
``{"ready": true}`` or ``{"error": "one line"}``, and ends with its input. Before that it may be
told ``{"without": [[address, port], ...]}``: connections with these are none of the run's, and
their packets are left out. It needs CAP_NET_RAW.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import socket
import struct
import sys
import time
from pathlib import Path

from mptcplab.engines.field.pcapng import Writer, leave_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ALL = 0x0003
# linux/if_packet.h, asm-generic/socket.h.
SOL_PACKET, PACKET_STATISTICS = 263, 6
PACKET_OUTGOING = 4
SO_ATTACH_FILTER, SO_TIMESTAMPNS, SO_RCVBUFFORCE = 26, 35, 33
_TIME = struct.Struct("=qq")
BUFFER_BYTES = 64 << 20
LOOPBACK = "lo"
SNAP_BYTES = 128
# As it is called where a run says who captured.
BY = "AF_PACKET"
WHOLE_BYTES = 1 << 16
INPUT = 0

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


class Recorder:
    """One socket for all interfaces, so that packets come in order, and the capture it fills."""

    def __init__(self, job: dict[str, Any]) -> None:
        wanted: dict[str, str] | None = job["interfaces"]
        if wanted is None:
            wanted = {name: name for _, name in socket.if_nameindex()}
        self._socket = _opened(job["port"], job["snap"])
        self._file = Path(job["file"])
        self._names = [f"{job['host']}:{called}" for called in wanted.values()]
        self._numbers = {name: number for number, name in enumerate(wanted)}
        self._snap = job["snap"]
        self._memory = bytearray(WHOLE_BYTES + 64)
        self._input = b""
        self._raw = open(self._file, "xb", buffering=1 << 20)  # noqa: SIM115, PTH123 - to the end
        os.fchmod(self._raw.fileno(), 0o600)
        self._writer = Writer(self._raw, self._names, job["snap"])

    def run(self) -> None:
        """Write until the input ends."""
        poll = select.epoll()
        poll.register(self._socket, select.EPOLLIN)
        poll.register(INPUT, select.EPOLLIN)
        while True:
            ready = {fd for fd, _ in poll.poll()}
            if self._socket.fileno() in ready:
                self._take()
            if INPUT in ready:
                came = os.read(INPUT, 1 << 16)
                self._input += came
                if not came:
                    break
        self._take()
        # Of which interface they were nobody knows.
        drops = [_dropped(self._socket), *[0] * (len(self._names) - 1)]
        self._writer.finish(time.time_ns(), drops)
        self._raw.close()
        lines = [json.loads(line) for line in self._input.splitlines()]
        others = {(str(address), int(port)) for one in lines for address, port in one["without"]}
        if others:
            leave_out(self._file, others)

    def _take(self) -> None:
        """Write what has come."""
        with contextlib.suppress(BlockingIOError):
            while True:
                count, control, _, place = self._socket.recvmsg_into([self._memory], 64)
                name, out = place[0], place[2] == PACKET_OUTGOING
                # On the way to itself a host sees every packet twice.
                if name not in self._numbers or (name == LOOPBACK and out):
                    continue
                at_ns = time.time_ns()
                for level, kind, data in control:
                    if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
                        seconds, nanos = _TIME.unpack(data)
                        at_ns = seconds * 10**9 + nanos
                packet = memoryview(self._memory)[:count]
                length = max(ip_bytes(packet), count)
                self._writer.packet(self._numbers[name], at_ns, length, packet, out=out)


def ip_bytes(packet: memoryview) -> int:
    """Give the length that the IP header says; of more than 64 KiB (BIG TCP) it says nothing."""
    if packet[0] >> 4 == 4:
        return int.from_bytes(packet[2:4], "big")
    return int.from_bytes(packet[4:6], "big") + 40


def _opened(port: int, snap: int) -> socket.socket:
    # Of all interfaces, from now on.
    made = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ALL))
    with contextlib.suppress(OSError):
        made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
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


def _dropped(one: socket.socket) -> int:
    return int(struct.unpack("=II", one.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1])


def main() -> int:
    """Serve one job."""
    line = b""
    while (byte := os.read(INPUT, 1)) not in (b"", b"\n"):
        line += byte
    try:
        recorder = Recorder(json.loads(line))
    except OSError as error:
        print(json.dumps({"error": error.strerror or str(error)}), flush=True)
        return 1
    print(json.dumps({"ready": True}), flush=True)
    recorder.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
