"""Whatever bytes come: a result, a result with a warning, or one clear error."""

from __future__ import annotations

import itertools
import pathlib
import struct
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mptcplab
from oracles import pieces
from requirements import need_tool

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "refused"
FRAMES = 24  # the handshakes of both subflows, and data
LIES = [0, 1, 3, 7, 11, 13, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFF0, 0xFFFFFFFF]
SECTION_BYTES, PCAP_BYTES = 28, 24


@pytest.fixture(scope="module", params=["pcapng", "pcap"])
def small(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A capture of some kilobytes."""
    need_tool("editcap")
    known = pieces.read(EXAMPLE / "client.pcapng.gz")
    file = tmp_path_factory.mktemp("small") / f"small.{request.param}"
    return pieces.write(known, known.frames[:FRAMES], file)


@pytest.fixture
def outcome(tmp_path: pathlib.Path) -> Outcome:
    return Outcome(tmp_path / "bytes")


class Outcome:
    """What becomes of a file with such bytes. A panic is an InternalError, which passes through."""

    def __init__(self, file: pathlib.Path) -> None:
        self.file = file

    def __repr__(self) -> str:
        return "outcome"

    def __call__(self, content: bytes) -> str:
        self.file.write_bytes(content)
        try:
            analysis = mptcplab.analyze(self.file)
        except mptcplab.CaptureError as error:
            return self.named(str(error))
        remarks = analysis.diagnostics["diagnostic"].to_list()
        assert remarks.count("capture_cut") == (not analysis.complete)
        return "complete" if analysis.complete else "cut"

    def named(self, message: str) -> str:
        assert str(self.file) in message
        assert "\n" not in message
        return "unreadable"


def expected(file: pathlib.Path, length: int) -> str:
    """What becomes of so long a prefix."""
    if length < (PCAP_BYTES if file.suffix == ".pcap" else SECTION_BYTES):
        return "unreadable"
    return "complete" if length in ends(file) else "cut"


def ends(file: pathlib.Path) -> set[int]:
    """Where a record ends, and the header."""
    content = file.read_bytes()
    plain = file.suffix == ".pcap"
    found = {PCAP_BYTES if plain else 0}
    at = max(found)
    while at < len(content):
        at += 16 + _u32(content, at + 8) if plain else _u32(content, at + 4)
        found.add(at)
    return found


def _u32(content: bytes, at: int) -> int:
    (value,) = struct.unpack_from("=I", content, at)
    return int(value)


def test_every_prefix(small: pathlib.Path, outcome: Outcome) -> None:
    content = small.read_bytes()
    for length in range(len(content) + 1):
        assert (length, outcome(content[:length])) == (length, expected(small, length))


def test_the_command_on_prefixes(small: pathlib.Path, tmp_path: pathlib.Path) -> None:
    content, file = small.read_bytes(), tmp_path / "prefix"
    for length in (0, 5, 100, 1000, len(content) - 1, len(content)):
        file.write_bytes(content[:length])
        command = [sys.executable, "-m", "mptcplab", "analyze", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        how = expected(small, length)
        assert done.returncode == (2 if how == "unreadable" else 0)
        assert done.stderr.count("\n") == (how != "complete")
        assert bool(done.stdout) == (how != "unreadable")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(content=st.binary(max_size=400))
def test_random_bytes(
    content: bytes, small: pathlib.Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outcome = Outcome(tmp_path_factory.getbasetemp() / "random")
    outcome(content)
    # With the head of a capture before them, they are not just refused.
    whole = small.read_bytes()
    assert outcome(whole[: min(ends(small) - {0})] + content) != "unreadable"
    assert outcome(whole + content) != "unreadable"


def test_flipped_bytes_in_options(small: pathlib.Path, outcome: Outcome) -> None:
    content = small.read_bytes()
    for start, end in options(small):
        for at, mask in itertools.product(range(start, end), (0xFF, 0x01, 0x30, 0x40)):
            flipped = bytearray(content)
            flipped[at] ^= mask
            assert outcome(bytes(flipped)) == "complete"


def test_lengths_that_lie(small: pathlib.Path, outcome: Outcome) -> None:
    content = small.read_bytes()
    ethernet = [start for start, _ in packets(small)]
    # Of blocks or records, and what they hold; then of IP, of its header, and of TCP's header.
    heads = {4, 20, 24} if small.suffix == ".pcapng" else {8, 12}
    records = sorted(ends(small) - {len(content)})
    for at, lie in itertools.product({r + head for r in records for head in heads}, LIES):
        if at + 4 <= len(content):
            outcome(content[:at] + struct.pack("=I", lie & 0xFFFFFFFF) + content[at + 4 :])
    for start, lie in itertools.product(ethernet, LIES):
        for at, size in ((16, 2), (14, 1), (14 + 20 + 12, 1)):
            value = (lie % 256**size).to_bytes(size)
            lying = content[: start + at] + value + content[start + at + size :]
            assert outcome(lying) == "complete"


def packets(file: pathlib.Path) -> Iterator[tuple[int, int]]:
    """Where the packets lie."""
    content = file.read_bytes()
    for start in sorted(ends(file) - {len(content)}):
        if file.suffix == ".pcap":
            yield start + 16, start + 16 + _u32(content, start + 8)
        elif _u32(content, start) == pieces.PACKET:
            yield start + 28, start + 28 + _u32(content, start + 20)


def options(file: pathlib.Path) -> Iterator[tuple[int, int]]:
    """Where TCP options lie."""
    content = file.read_bytes()
    for start, end in packets(file):
        tcp = start + 14 + 20
        yield tcp + 20, min(end, tcp + (content[tcp + 12] >> 4) * 4)
