"""Captures with dumpcap, Wireshark's, which its group may run with the right to capture."""

from __future__ import annotations

import os
import select
import shutil
import signal
import struct
import subprocess
import time

from mptcplab._core import Error
from mptcplab.engines.field.captures.packet import (
    LOOPBACK,
    OUTGOING,
    Packet,
    interface_name,
    ip_bytes,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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
    """The program, and its capture as it comes.

    Raises:
        Error: It is not there, or may not either.
    """

    by = PROGRAM

    def __init__(self, port: int, snap: int) -> None:
        found = shutil.which(PROGRAM)
        if found is None:
            raise Error("dumpcap is not installed")
        kept = min(snap + _HEAD.size, 1 << 18)
        words = f"-q -p -i any -y {LINK_TYPE} -B {BUFFER_MIB} -s {kept} -w -".split()
        self._process = subprocess.Popen(  # noqa: S603
            [found, *words, "-f", f"tcp port {port}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Ctrl-C is ours to handle.
            start_new_session=True,
        )
        assert self._process.stdout is not None  # noqa: S101 - it has
        self._out = self._process.stdout.fileno()
        self._came = bytearray()
        self._dropped = 0
        # It writes what the file begins with once it captures.
        if not select.select([self._out], [], [], START_SECONDS)[0] or not self._read():
            raise Error(f"dumpcap: {self._refusal()}")
        os.set_blocking(self._out, False)

    def fileno(self) -> int:
        """Give that of its output."""
        return self._out

    def take(self) -> Iterator[Packet]:
        """Give what has come."""
        while True:
            try:
                more = self._read()
            except BlockingIOError:
                more = False
            yield from self._packets()
            if not more:
                return

    def finish(self) -> tuple[list[Packet], int]:
        """Have it write what it has, and end."""
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
        """It tells at the end."""
        return None

    def _read(self) -> bool:
        came = os.read(self._out, READ_BYTES)
        self._came += came
        return bool(came)

    def _packets(self) -> Iterator[Packet]:
        at = 0
        came = bytes(self._came)
        while at + _BLOCK.size <= len(came):
            kind, length = _BLOCK.unpack_from(came, at)
            if at + length > len(came):
                break
            if kind == PACKET and (packet := _packet(came, at + _BLOCK.size)) is not None:
                yield packet
            elif kind == STATISTICS:
                self._dropped += _dropped(came[at + _BLOCK.size + 12 : at + length - 4])
            at += length
        del self._came[:at]

    def _refusal(self) -> str:
        """Say what it says, in a line."""
        _, said = self._end()
        lines = [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
        told = [line.partition(": ")[2] for line in lines if line.startswith(f"{PROGRAM}: ")]
        return (told or lines or ["it captures nothing"])[0]

    def _end(self) -> tuple[bytes, bytes]:
        try:
            return self._process.communicate(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.communicate()


def _packet(block: bytes, at: int) -> Packet | None:
    """Read a packet's block; ``None`` where it is not of IP, or was seen before."""
    _, high, low, kept, length = _PACKET.unpack_from(block, at)
    start = at + _PACKET.size
    protocol, number, _, kind, _, _ = _HEAD.unpack_from(block, start)
    name, out = interface_name(number), kind == OUTGOING
    if protocol not in IP or (name == LOOPBACK and out):
        return None
    data = memoryview(block)[start + _HEAD.size : start + kept]
    whole = max(ip_bytes(data), length - _HEAD.size)
    return Packet(name, out, (high << 32) + low, whole, data)


def _dropped(options: bytes) -> int:
    """Find how many packets an interface dropped."""
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from("=HH", options, at)
        if code == IF_DROP:
            return int.from_bytes(options[at + 4 : at + 4 + length], "little")
        at += 4 + length + -length % 4
    return 0
