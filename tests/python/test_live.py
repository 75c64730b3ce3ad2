"""The live view: what it reads of agents' samples, and how it shows that."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from mptcplab.cli import live
from mptcplab.cli.live import Beside, Live, Samples

CLIENT = {"wifi": ("10.0.1.2", 4000), "lte": ("10.0.2.2", 4001)}
SERVER = ("10.9.0.1", 80)
NAMES = {address: name for name, (address, _) in CLIENT.items()}


def sample(directory: Path, host: str, path: str, at_ns: int, **columns: Any) -> None:
    """Write what an agent would."""
    local, remote = CLIENT[path], SERVER
    if host == "server":
        local, remote = remote, local
    row = {"host": host, "local": local, "remote": remote, "at_ns": at_ns, **columns}
    with (directory / "raw" / f"{host}.samples").open("a") as file:
        file.write(json.dumps(row) + "\n")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A run that goes on: a megabyte a second over Wi-Fi, a quarter of it over LTE."""
    (tmp_path / "raw").mkdir()
    (tmp_path / "scenario.toml").write_text(
        '[[timeline]]\nat = "1.5 s"\npath = "wifi"\nverb = "blackout"\n'
    )
    return tmp_path


def goes_on(directory: Path, second: int) -> None:
    """A second more of it."""
    for path, bytes_ in (("wifi", 1_000_000), ("lte", 250_000)):
        at_ns = second * 10**9
        received = {"received_bytes": second * bytes_, "acknowledged_bytes": 64, "srtt_ms": 9.0}
        sample(directory, "client", path, at_ns, **received)
        sent = {"acknowledged_bytes": second * bytes_, "srtt_ms": 30.0 if path == "wifi" else 80.0}
        sample(directory, "server", path, at_ns, **sent)


def test_rates_are_of_what_came_between_two_looks(directory: Path) -> None:
    samples = Samples(directory, NAMES, now_ns=lambda: 2 * 10**9)
    assert samples.paths() == []
    goes_on(directory, 1)
    assert [path.mbps for path in samples.paths()] == [None, None]
    goes_on(directory, 2)
    wifi, lte = samples.paths()
    assert (wifi.name, lte.name) == ("wifi", "lte")
    assert (wifi.mbps, lte.mbps) == (8.0, 2.0)
    assert (wifi.bytes, lte.bytes) == (2_000_064, 500_064)
    # Who sends the data knows its round-trip time.
    assert (wifi.rtt_ms, lte.rtt_ms) == (30.0, 80.0)
    # Nothing new: the same is shown; a row that is not whole yet waits.
    with (directory / "raw" / "client.samples").open("a") as file:
        file.write('{"host": "cli')
    wifi, lte = samples.paths()
    assert (wifi.mbps, list(wifi.rates)) == (8.0, [8.0])


def test_a_first_look_shows_what_came_since_the_first_sample(directory: Path) -> None:
    """Without a terminal it comes after ten seconds."""
    for second in (1, 2, 3):
        goes_on(directory, second)
    assert [path.mbps for path in Samples(directory, NAMES).paths()] == [8.0, 2.0]


def test_a_silence_of_which_nothing_is_written_has_no_rate(directory: Path) -> None:
    now = {"s": 2.0}
    samples = Samples(directory, NAMES, now_ns=lambda: int(now["s"] * 1e9))
    for second in (1, 2):
        goes_on(directory, second)
        samples.paths()
    for now["s"], mbps in ((4.5, 8.0), (5.5, 0.0), (6.5, 0.0)):
        assert samples.paths()[0].mbps == mbps
    # It goes on: a megabyte in a second and a half.
    sample(directory, "client", "wifi", 8 * 10**9, received_bytes=3_000_000, acknowledged_bytes=64)
    now["s"] = 8.0
    assert samples.paths()[0].mbps == pytest.approx(8 / 1.5)


def test_curves_are_as_high_as_the_highest(directory: Path) -> None:
    samples = Samples(directory, NAMES)
    for second in (1, 2, 3):
        goes_on(directory, second)
        paths = samples.paths()
    wifi, lte = live.rows(paths)
    assert wifi == ["wifi", "██".rjust(live.SHOWN), "8.00 Mbit/s", "RTT 30.0 ms", "80 %"]
    assert lte == ["lte", "▃▃".rjust(live.SHOWN), "2.00 Mbit/s", "RTT 80.0 ms", "20 %"]


def test_a_run_that_waits_says_for_how_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(live, "LINE_S", 0.0)
    with Live("runs/x", NAMES) as view:
        progress = view.begin("tcp-wifi")
        for second, amount in ((1, 500), (2, 1000), (3, 1000), (5, 1000), (6, 1500)):
            progress(second * 10**9, amount)
    said = [line.partition(", ")[2] for line in capsys.readouterr().err.splitlines()]
    assert said == ["500 B", "1.00 kB", "1.00 kB", "1.00 kB, nothing new for 3 s", "1.50 kB"]


class Stream(io.StringIO):
    """Standard error, that of a terminal or of none."""

    encoding = "utf-8"

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_has_lines_that_go_and_others_plain_ones(
    directory: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    stream = Stream(terminal=terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    for name in ("STEP_S", "LINE_S"):
        monkeypatch.setattr(live, name, 0.0)
    with Live("runs/x", NAMES) as view:
        progress = view.begin("mptcp")
        view.watch(directory)
        for second in (1, 2):
            goes_on(directory, second)
            progress(second * 10**9, 1_250_000 * second)
    said = stream.getvalue()
    if terminal:
        head, *lines = said.split("\x1b[J")[-2].splitlines()
        assert head == "runs/x mptcp: at 2.0 s, 2.50 MB"
        assert [line.split()[0] for line in lines[:2]] == ["wifi", "lte"]
        assert lines[2].strip() == "1.5 s wifi: blackout"
        # At the end all of it is gone.
        assert said.endswith("\x1b[3A\x1b[J")
    else:
        assert "\x1b" not in said
        assert said.splitlines()[-1] == (
            "runs/x mptcp: at 2.0 s, 2.50 MB; wifi 8.00 Mbit/s, RTT 30.0 ms, 80 %; "
            "lte 2.00 Mbit/s, RTT 80.0 ms, 20 %; 1.5 s wifi: blackout"
        )


def test_beside_a_program_it_stands_in_the_title(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Stream(terminal=True)
    monkeypatch.setattr(sys, "stderr", stream)
    goes_on(directory, 1)
    view = Beside("runs/x", NAMES)
    view.watch(directory)
    view._show(1.0, None)
    said = stream.getvalue()
    assert said.startswith("\x1b]2;runs/x: at 1.0 s, 1.25 MB · wifi ")
    assert said.endswith("\x07")
    assert "\n" not in said
    with Beside("runs/x", NAMES, shows=False) as silent:
        silent.start()
    assert stream.getvalue() == said
