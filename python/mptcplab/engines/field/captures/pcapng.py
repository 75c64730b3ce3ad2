"""Writes captures: pcapng with nanoseconds, directions and drop counts, an interface per path."""

from __future__ import annotations

import struct
from ipaddress import ip_address
from pathlib import Path
from typing import BinaryIO

from mptcplab.engines.field.captures.packet import ends
from mptcplab.writing import replacing

# draft-ietf-opsawg-pcapng §4.
SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6
ORDER = 0x1A2B3C4D
# Packets begin with their IP header (LINKTYPE_RAW).
RAW = 101
IF_NAME, IF_TSRESOL = 2, 9
EPB_FLAGS = 2
ISB_IFDROP = 5
NANOSECONDS = b"\x09"
INBOUND, OUTBOUND = 1, 2


class Writer:
    """Writes one file, in the order of the calls."""

    def __init__(self, file: BinaryIO, interfaces: list[str], snap: int) -> None:
        self._file = file
        self._snap = snap
        self._block(SECTION, struct.pack("<IHHq", ORDER, 1, 0, -1))
        for name in interfaces:
            self.interface(name)

    def interface(self, name: str) -> None:
        """Add an interface; they are numbered from 0 on."""
        options = _option(IF_NAME, name.encode()) + _option(IF_TSRESOL, NANOSECONDS)
        self._block(INTERFACE, struct.pack("<HHI", RAW, 0, self._snap) + options + _END)

    def packet(
        self, interface: int, at_ns: int, length: int, data: bytes | memoryview, *, out: bool
    ) -> int:
        """Write a packet, of which ``data`` was captured; returns the size of its block."""
        head = struct.pack("<IIIII", interface, at_ns >> 32, at_ns & 0xFFFF_FFFF, len(data), length)
        flags = _option(EPB_FLAGS, struct.pack("<I", OUTBOUND if out else INBOUND))
        return self._block(PACKET, head + _padded(data) + flags + _END)

    def finish(self, at_ns: int, drops: list[int]) -> None:
        """End with the packets that each interface dropped."""
        for interface, dropped in enumerate(drops):
            head = struct.pack("<III", interface, at_ns >> 32, at_ns & 0xFFFF_FFFF)
            option = _option(ISB_IFDROP, struct.pack("<Q", dropped))
            self._block(STATISTICS, head + option + _END)
        self._file.flush()

    def _block(self, kind: int, body: bytes) -> int:
        length = struct.pack("<I", 12 + len(body))
        return self._file.write(struct.pack("<I", kind) + length + body + length)


_END = bytes(4)
# Of a packet's block: interface, time in two halves, captured length and original length.
_PACKET = struct.Struct("<8xIIIII")
_BLOCK = struct.Struct("<II")


def leave_out(path: Path, removed: set[tuple[str, int]]) -> None:
    """Remove packets from or to any of these addresses and ports from a capture of ours."""
    others = {(ip_address(address).packed, port) for address, port in removed}
    with path.open("rb") as file, replacing(path) as output:
        while head := file.read(_BLOCK.size):
            kind, length = _BLOCK.unpack(head)
            block = head + file.read(length - _BLOCK.size)
            if kind != PACKET or not _ends(block) & others:
                output.write(block)


def _ends(block: bytes) -> set[tuple[bytes, int]]:
    """Give both ends of a packet of TCP."""
    start = _PACKET.size
    _, _, _, count, _ = _PACKET.unpack_from(block)
    return set(ends(block[start : start + count]))


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value)


def _padded(data: bytes | memoryview) -> bytes:
    return bytes(data) + bytes(-len(data) % 4)
