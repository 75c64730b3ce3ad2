"""A capture of dumpcap's in pieces: taken apart, shuffled, written in another form."""

from __future__ import annotations

import gzip
import pathlib
import struct
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
NAME, NANOSECONDS = 2, b"\x09\0\x01\0\x09\0\0\0"
FORMS = ["pcapng", "pcap", "pcapng.gz", "pcap.gz", "pcapng.zst"]


@dataclass(frozen=True)
class Frame:
    at_ns: int
    interface: int
    data: bytes  # captured; Ethernet, IPv4 without options, TCP
    length: int

    @property
    def ends(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Source and destination."""
        source, target, port, other_port = struct.unpack_from("!IIHH", self.data, 26)
        return (source, port), (target, other_port)

    def at(self, at_ns: int) -> Frame:
        return replace(self, at_ns=at_ns)


@dataclass(frozen=True, repr=False)
class Pieces:
    names: list[str]  # of the interfaces
    frames: list[Frame]


def read(capture: pathlib.Path) -> Pieces:
    content = capture.read_bytes()
    if capture.suffix == ".gz":
        content = gzip.decompress(content)
    names, frames, at = [], [], 0
    while at < len(content):
        kind, length = struct.unpack_from("=II", content, at)
        if kind == INTERFACE:
            names.append(_name(content[at + 16 : at + length - 4]))
        elif kind == PACKET:
            number, high, low, kept, whole = struct.unpack_from("=IIIII", content, at + 8)
            data = content[at + 28 : at + 28 + kept]
            frames.append(Frame(high << 32 | low, number, data, whole))
        at += length
    return Pieces(names, frames)


def write(pieces: Pieces, frames: Iterable[Frame], file: pathlib.Path) -> pathlib.Path:
    """Write some of the frames in the form that the file's name asks for."""
    blocks = [_block(SECTION, struct.pack("=IHHq", 0x1A2B3C4D, 1, 0, -1))]
    for name in pieces.names:
        option = struct.pack("=HH", NAME, len(name)) + _padded(name.encode())
        options = option + NANOSECONDS + bytes(4)
        blocks.append(_block(INTERFACE, struct.pack("=HHI", 1, 0, 128) + options))
    for frame in frames:
        high, low = divmod(frame.at_ns, 2**32)
        head = struct.pack("=IIIII", frame.interface, high, low, len(frame.data), frame.length)
        blocks.append(_block(PACKET, head + _padded(frame.data)))
    content = b"".join(blocks)
    if ".pcap" in file.suffixes:
        converted = ["editcap", "-F", "nsecpcap", "-", "-"]
        content = subprocess.run(converted, input=content, capture_output=True, check=True).stdout
    if file.suffix == ".gz":
        content = gzip.compress(content, 1)
    elif file.suffix == ".zst":
        content = _zstd(content)
    file.write_bytes(content)
    return file


def in_order(pieces: Pieces, frames: list[Frame]) -> list[Frame]:
    """By time and interface; those of one interface as they stand."""
    return sorted(frames, key=lambda frame: (frame.at_ns, pieces.names[frame.interface]))


def _name(options: bytes) -> str:
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from("=HH", options, at)
        if code == NAME:
            return options[at + 4 : at + 4 + length].decode()
        at += 4 + (length + 3) // 4 * 4
    return ""


def _block(kind: int, body: bytes) -> bytes:
    length = len(body) + 12
    return struct.pack("=II", kind, length) + body + struct.pack("=I", length)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _zstd(content: bytes) -> bytes:
    """A frame of raw blocks (RFC 8878): Python has no zstd of its own yet."""
    parts = [struct.pack("<IBI", 0xFD2FB528, 0xA0, len(content))]
    size = 1 << 17
    for at in range(0, len(content), size):
        block = content[at : at + size]
        last = at + size >= len(content)
        parts += [(len(block) << 3 | last).to_bytes(3, "little"), block]
    return b"".join(parts)
