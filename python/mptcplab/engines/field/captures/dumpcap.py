"""Captures with Wireshark's dumpcap, which members of its group may run to capture."""

from __future__ import annotations

import os
import select
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Iterator

from mptcplab._core import Error
from mptcplab.engines.field.captures.packet import (
    LOOPBACK,
    OUTGOING,
    Packet,
    interface_name,
    ip_bytes,
)

PROGRAM = "dumpcap"
BUFFER_MIB = "64"
START_SECONDS = 10.0
END_SECONDS = 5.0
# Until the kernel has given dumpcap what came before: it asks for packets four times a second
# (CAP_READ_TIMEOUT), and those that it was not given when it ends are lost.
LAST_SECONDS = 0.6
READ_BYTES = 1 << 20
# LINKTYPE_LINUX_SLL2: protocol, interface's number, kind of its device, kind of packet, address.
LINK_TYPE = "LINUX_SLL2"
_HEAD = struct.Struct(">H2xIHBB8s")
IP = (0x0800, 0x86DD)
# draft-ietf-opsawg-pcapng §4: those that dumpcap writes, in this machine's order.
STATISTICS, PACKET = 5, 6
_BLOCK = struct.Struct("=II")
_PACKET = struct.Struct("=5I")
IF_DROP = 5


class Dumpcap:
    """The program, and the capture that it writes.

    Raises:
        Error: It is not installed, or may not capture either.
    """

    by = PROGRAM

    def __init__(self, port: int, snap: int) -> None:
        program = shutil.which(PROGRAM)
        if program is None:
            raise Error("dumpcap is not installed")
        snap_bytes = min(snap + _HEAD.size, 1 << 18)
        options = f"-q -p -i any -y {LINK_TYPE} -B {BUFFER_MIB} -s {snap_bytes} -w -".split()
        self._process = subprocess.Popen(  # noqa: S603
            [program, *options, "-f", f"tcp port {port}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Ctrl-C is ours to handle.
            start_new_session=True,
        )
        assert self._process.stdout is not None  # noqa: S101 - it has
        self._out = self._process.stdout.fileno()
        self._buffer = bytearray()
        self._dropped = 0
        # It writes the head of the file once it captures.
        if not select.select([self._out], [], [], START_SECONDS)[0] or not self._read():
            raise Error(f"dumpcap: {self._refusal()}")
        os.set_blocking(self._out, False)

    def fileno(self) -> int:
        """Give the descriptor of its output."""
        return self._out

    def take(self) -> Iterator[Packet]:
        """Give the packets that were captured since the last call."""
        while True:
            try:
                more = self._read()
            except BlockingIOError:
                more = False
            yield from self._packets()
            if not more:
                return

    def finish(self) -> tuple[list[Packet], int]:
        """End it, and give the last packets."""
        time.sleep(LAST_SECONDS)
        self._process.send_signal(signal.SIGINT)
        os.set_blocking(self._out, True)
        until = time.monotonic() + END_SECONDS
        while (left := until - time.monotonic()) > 0:
            if select.select([self._out], [], [], left)[0] and not self._read():
                break
        last = [one._replace(data=bytes(one.data)) for one in self._packets()]
        self._end()
        return last, self._dropped

    def dropped(self) -> int | None:
        """Give nothing: dumpcap reports it at the end."""
        return None

    def _read(self) -> bool:
        received = os.read(self._out, READ_BYTES)
        self._buffer += received
        return bool(received)

    def _packets(self) -> Iterator[Packet]:
        offset = 0
        buffer = bytes(self._buffer)
        while offset + _BLOCK.size <= len(buffer):
            kind, length = _BLOCK.unpack_from(buffer, offset)
            if offset + length > len(buffer):
                break
            if kind == PACKET and (packet := _packet(buffer, offset + _BLOCK.size)) is not None:
                yield packet
            elif kind == STATISTICS:
                self._dropped += _dropped(buffer[offset + _BLOCK.size + 12 : offset + length - 4])
            offset += length
        del self._buffer[:offset]

    def _refusal(self) -> str:
        """Give its error message, in a line."""
        _, errors = self._end()
        lines = [line for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
        messages = [line.partition(": ")[2] for line in lines if line.startswith(f"{PROGRAM}: ")]
        return (messages or lines or ["it captures nothing"])[0]

    def _end(self) -> tuple[bytes, bytes]:
        try:
            return self._process.communicate(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.communicate()


def _packet(block: bytes, offset: int) -> Packet | None:
    """Read a packet's block; ``None`` where it is not IP, or was captured before."""
    _, high, low, captured, original = _PACKET.unpack_from(block, offset)
    start = offset + _PACKET.size
    protocol, number, _, kind, _, _ = _HEAD.unpack_from(block, start)
    name, out = interface_name(number), kind == OUTGOING
    if protocol not in IP or (name == LOOPBACK and out):
        return None
    data = memoryview(block)[start + _HEAD.size : start + captured]
    length = max(ip_bytes(data), original - _HEAD.size)
    return Packet(name, out, (high << 32) + low, length, data)


def _dropped(options: bytes) -> int:
    """Find how many packets an interface dropped."""
    offset = 0
    while offset + 4 <= len(options):
        code, length = struct.unpack_from("=HH", options, offset)
        if code == IF_DROP:
            return int.from_bytes(options[offset + 4 : offset + 4 + length], "little")
        offset += 4 + length + -length % 4
    return 0
