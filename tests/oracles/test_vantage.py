"""At which end a capture was taken, beside the truth: simulated captures, cut to little."""

from __future__ import annotations

import pathlib
import random
from collections import Counter
from dataclasses import replace

import pytest

import mptcplab
from oracles import pieces, simulated

FLAGS, SYN = 33, 2  # of TCP, after IPv4 without options
ETHERNET = bytes(12) + b"\x08\0"
DELAYS = ["0.2 ms", "1 ms", "3 ms", "20 ms", "150 ms"]
DELAYED_ACKS = ["40 ms", "200 ms", "off"]
# Request, response, how many, and the pause between them.
EXCHANGES = [("300 B", "60 kB", 20, "20 ms"), ("5 kB", "5 kB", 60, "5 ms")]
LENGTHS = [12, 40, 150, 600]


def run(
    directory: pathlib.Path, delay: str, delayed_ack: str, exchange: tuple[str, str, int, str]
) -> simulated.SimulatedRun:
    request, response, requests, think = exchange
    path = {"rate": "30 Mbit/s", "delay": delay, "jitter": "1 ms", "queue": "200 kB"}
    made = {
        "schema": 1,
        "transfer": {
            "application": "request-response",
            "direction": "download",
            "request": request,
            "response": response,
            "requests": requests,
            "think": think,
        },
        "path": {"wifi": path},
        "tcp": {"delayed_ack": delayed_ack},
    }
    directory.mkdir()
    return simulated.simulate("vantage", simulated.planned(made), directory)


def cut(whole: pieces.Pieces, frames: list[pieces.Frame], directory: pathlib.Path) -> pathlib.Path:
    """Write some frames, which no longer say which way they went."""
    framed = (
        replace(frame, data=ETHERNET + frame.data, length=frame.length + len(ETHERNET))
        for frame in frames
    )
    return pieces.write(whole, framed, directory / "cut.pcapng")


def verdict(capture: pathlib.Path) -> tuple[str | None, float | None]:
    (row,) = mptcplab.analyze(capture).connections.iter_rows(named=True)
    return row["vantage"], row["vantage_confidence"]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Counter[tuple[bool, float, bool | None]]:
    """Count by (handshake, confidence, whether it is right): 0 and None where it is not said."""
    directory = tmp_path_factory.mktemp("vantage")
    chance = random.Random(1)
    counts = Counter[tuple[bool, float, bool | None]]()
    cases = [(d, a, e) for d in DELAYS for a in DELAYED_ACKS for e in EXCHANGES]
    for number, case in enumerate(cases):
        made = run(directory / str(number), *case)
        for end in ("client", "server"):
            whole = pieces.read(getattr(made, end))
            late = [frame for frame in whole.frames if not frame.data[FLAGS] & SYN]
            cuts = [(True, whole.frames[:600])]
            for length in (length for length in LENGTHS if length <= len(late)):
                first = chance.randrange(len(late) - length + 1)
                cuts.append((False, late[first : first + length]))
            for handshake, frames in cuts:
                said, sure = verdict(cut(whole, frames, directory))
                right = None if said is None else said == end
                counts[handshake, round(sure or 0.0, 2), right] += 1
    return counts


def test_verdicts_are_right_as_often_as_they_say(
    verdicts: Counter[tuple[bool, float, bool | None]],
) -> None:
    for handshake in (True, False):
        told = {key: count for key, count in verdicts.items() if key[0] == handshake and key[1]}
        assert sum(told.values()) >= 50, verdicts
        for confidence in {key[1] for key in told}:
            right = told.get((handshake, confidence, True), 0)
            wrong = told.get((handshake, confidence, False), 0)
            assert wrong <= (1 - confidence) * (right + wrong), verdicts


def test_handshakes_tell(verdicts: Counter[tuple[bool, float, bool | None]]) -> None:
    empty = sum(count for key, count in verdicts.items() if key[0] and key[2] is None)
    told = sum(count for key, count in verdicts.items() if key[0] and key[2])
    assert told >= 9 * empty, verdicts
