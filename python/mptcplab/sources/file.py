"""A file that is no capture, and how it is told from one: by its content."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from mptcplab import reading
from mptcplab._core import Error

# libpcap in both byte orders, with microseconds, nanoseconds and Kuznetzov's headers; pcapng; zstd.
CAPTURES = tuple(
    bytes.fromhex(magic)
    for magic in (
        "a1b2c3d4",
        "d4c3b2a1",
        "a1b23c4d",
        "4d3cb2a1",
        "a1b2cd34",
        "34cdb2a1",
        "0a0d0d0a",
        "28b52ffd",
    )
)
GZIP = b"\x1f\x8b"
HEAD_BYTES = 1 << 16
# Logs of an event per packet are long; what is read is held in memory.
MOST_BYTES = 512 * 10**6
# What text has of control characters: qlog's sequences begin records with 1E (RFC 7464).
BLANKS = frozenset("\t\n\r\f\x1e")


@dataclass(frozen=True)
class File:
    """A file of text that some tool wrote."""

    path: Path
    #: Its first 64 KiB.
    head: str

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return self.path.name

    def text(self) -> str:
        """Read all of it, unpacked.

        Raises:
            Error: It cannot be read, is too large, or is no text.
        """
        try:
            content = reading.read_bytes(self.path, MOST_BYTES)
            if content.startswith(GZIP):
                content = _unpacked(content, MOST_BYTES)
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise Error(f"{self.path}: byte {error.start} is no text in UTF-8") from error
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or error
            raise Error(f"cannot read {self.path}: {reason}") from error


def look(path: str | PathLike[str]) -> File | None:
    """Look at a file; None if it may be a capture, which whoever reads captures knows better."""
    found = Path(path)
    try:
        # Pipes are not looked into: what was read of them would be gone.
        if str(path) == "-" or not found.is_file():
            return None
        with found.open("rb") as content:
            start = content.read(HEAD_BYTES)
        if start.startswith(GZIP):
            start = _start(start)
    except (OSError, zlib.error):
        return None
    if not start or start.startswith(CAPTURES):
        return None
    head = start.decode("utf-8-sig", "replace")
    # What the end of the head cuts in two is no fault of the file.
    whole = head[:-4] if len(start) == HEAD_BYTES else head
    is_text = "\ufffd" not in whole and all(sign >= " " or sign in BLANKS for sign in head)
    return File(found, head) if is_text else None


def _start(packed: bytes) -> bytes:
    return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(packed, HEAD_BYTES)


def _unpacked(packed: bytes, most_bytes: int) -> bytes:
    import gzip
    import io

    with gzip.open(io.BytesIO(packed)) as content:
        unpacked = content.read(most_bytes + 1)
    if len(unpacked) > most_bytes:
        raise OSError(f"has more than {most_bytes // 10**6} MB unpacked")
    return unpacked
