"""The same packets give the same tables, in whatever files, forms and order they come."""

from __future__ import annotations

import pathlib
import random
import tempfile
from collections.abc import Callable

import polars as pl
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import mptcplab
from kernel import KernelCapture
from mptcplab import _core
from oracles import pieces
from oracles.pieces import FORMS, Frame, Pieces
from requirements import need_tool

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
# Examples are whole captures: nothing would come of making a failing one smaller.
FEW = settings(deadline=None, derandomize=True, phases=[Phase.generate], print_blob=False)
# Where a packet is found; and what interfaces are called, which pcap forgets.
POSITION = {"capture", "record"}
NAMES = {"path"}
SPLITS: dict[str, Callable[[Frame], int]] = {
    "per interface": lambda frame: frame.interface,
    "per flow": lambda frame: sum(map(sum, frame.ends)) % 4,
    "per port": lambda frame: max(frame.ends[0][1], frame.ends[1][1]) % 3,
}


class Ends(dict[str, Pieces]):
    """Both ends of a recording."""

    has_failed_joins = False

    def __repr__(self) -> str:
        return ", ".join(self)


@pytest.fixture(scope="module", params=["download", "outage", "short"])
def whole(request: pytest.FixtureRequest, kernel_capture: Callable[[str], KernelCapture]) -> Ends:
    """Both ends of a recording. Times are made unique."""
    need_tool("editcap")
    name = request.param
    captures = {
        end: EXAMPLES / name / f"{end}.pcapng.gz"
        if name != "short"
        else getattr(kernel_capture("short-lossy"), end)
        for end in ("client", "server")
    }
    found = Ends({end: unique(pieces.read(capture)) for end, capture in captures.items()})
    found.has_failed_joins = name == "short"
    return found


def unique(known: Pieces) -> Pieces:
    """Let no two packets have the same time."""
    last, frames = 0, []
    for frame in pieces.in_order(known, known.frames):
        last = max(frame.at_ns, last + 1)
        frames.append(frame.at(last))
    return Pieces(known.names, frames)


def same(ours: mptcplab.Analysis, theirs: mptcplab.Analysis, *, but: set[str]) -> None:
    for name in _core.Tables.NAMES:
        # Findings call subflows by their paths.
        texts = {"message"} if name == "findings" and "path" in but else set()
        a, b = (
            getattr(analysis, name).drop(but | texts, strict=False) for analysis in (ours, theirs)
        )
        if name == "diagnostics":
            # What is said of a capture is said of each.
            a, b = (frame.filter(pl.col("connection").is_not_null()) for frame in (a, b))
        assert_frame_equal(a, b, check_exact=True)


@settings(FEW, max_examples=8)
@given(
    ends=st.sampled_from([["client"], ["server"], ["client", "server"]]),
    split=st.sampled_from(sorted(SPLITS)),
    form=st.sampled_from(FORMS),
    seed=st.integers(0, 1000),
)
def test_splitting_and_shuffling_change_nothing(
    whole: Ends, ends: list[str], split: str, form: str, seed: int
) -> None:
    # A file that holds nothing of a connection but a join that came to nothing cannot be placed at
    # an end by its timing; only the short transfers have those.
    assume(not whole.has_failed_joins or len(ends) == 1)
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        together, apart = [], []
        for end in ends:
            known = whole[end]
            together.append(pieces.write(known, known.frames, directory / f"{end}.pcapng"))
            parts: dict[int, list[Frame]] = {}
            for frame in known.frames:
                parts.setdefault(SPLITS[split](frame), []).append(frame)
            for number, frames in parts.items():
                apart.append(pieces.write(known, frames, directory / f"{end}{number}.{form}"))
        random.Random(seed).shuffle(apart)
        names = NAMES if form.startswith("pcap.") or form == "pcap" else set()
        same(mptcplab.analyze(apart), mptcplab.analyze(together), but=POSITION | names)


@settings(FEW, max_examples=4)
@given(seed=st.integers(0, 1000))
def test_packets_of_one_time_have_an_order(whole: Ends, seed: int) -> None:
    # A clock that steps by 0.1 ms. However interfaces stand to each other, it is in_order()'s.
    known = whole["client"]
    coarse = [frame.at(frame.at_ns // 100_000 * 100_000) for frame in known.frames]
    ordered = pieces.in_order(known, coarse)
    assert len({frame.at_ns for frame in coarse}) < len(coarse)
    mixed = shuffled(known, coarse, random.Random(seed))
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        canonical = mptcplab.analyze(pieces.write(known, ordered, directory / "a.pcapng"))
        one = mptcplab.analyze(pieces.write(known, mixed, directory / "b.pcapng"))
        same(one, canonical, but=POSITION)
        parts: dict[int, list[Frame]] = {}
        for frame in mixed:
            parts.setdefault(frame.interface, []).append(frame)
        files = [
            pieces.write(known, frames, directory / f"{number}.pcapng")
            for number, frames in parts.items()
        ]
        same(mptcplab.analyze(files), canonical, but=POSITION)


def test_the_order_is_the_one_stated(whole: Ends, tmp_path: pathlib.Path) -> None:
    # With the ties broken by nanoseconds in that order, everything is counted as with them.
    known = whole["client"]
    coarse = [frame.at(frame.at_ns // 100_000 * 100_000) for frame in known.frames]
    ordered = pieces.in_order(known, coarse)
    broken = unique(Pieces(known.names, ordered)).frames
    assert [frame.data for frame in broken] == [frame.data for frame in ordered]
    turned = shuffled(known, coarse, random.Random(1))
    tied = mptcplab.analyze(pieces.write(known, turned, tmp_path / "tied.pcapng"))
    stated = mptcplab.analyze(pieces.write(known, broken, tmp_path / "told.pcapng"))
    # Subflows that began at one time are numbered otherwise: so they are known by their 4-tuples.
    assert_frame_equal(counts(tied), counts(stated))
    for column in ("bytes", "reinjected_bytes", "reinjected_packets"):
        assert tied.transfers[column].to_list() == stated.transfers[column].to_list()


def shuffled(known: Pieces, frames: list[Frame], chance: random.Random) -> list[Frame]:
    """In order of time; of one time, interface by interface in any order."""
    groups: dict[object, float] = {}

    def order(frame: Frame) -> tuple[int, float]:
        key = (frame.at_ns, known.names[frame.interface])
        return frame.at_ns, groups.setdefault(key, chance.random())

    return sorted(frames, key=order)


def counts(analysis: mptcplab.Analysis) -> pl.DataFrame:
    ends = ["client_address", "client_port", "server_address", "server_port"]
    known = analysis.flows.join(analysis.subflows, on=["connection", "subflow"])
    numbers = pl.selectors.integer() - pl.selectors.by_name("subflow", "window_bytes_min")
    return known.select(*ends, "direction", numbers - pl.selectors.by_name(*ends)).sort(
        *ends, "connection", "direction"
    )
