"""Results that are packaged, and run again elsewhere."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from command import Run
from mptcplab import Error, open_run, package, run, sweep, verify
from mptcplab.artifact import artifact
from mptcplab.artifact.package import default_path

SCENARIO = """
[transfer]
size = "100 kB"

[path.wifi]
rate = "10 Mbit/s"
delay = "10 ms"
loss = "1 %"

[path.lte]
rate = "5 Mbit/s"
delay = "30 ms"
"""
CAMPAIGN: dict[str, Any] = {
    "repetitions": 2,
    "axis": {"loss": {"key": "path.wifi.loss", "values": ["0.5 %", "2 %"]}},
}


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(SCENARIO)
    run("mine.toml", out="runs", captures="none")
    return Path("runs")


def changed(file: Path, change: dict[str, Any]) -> None:
    """Put other values into an artifact, as somebody else's results might have them."""
    with zipfile.ZipFile(file) as packed:
        content = {name: packed.read(name) for name in packed.namelist()}
    about = json.loads(content[artifact.ABOUT])
    about["runs"][0] |= change.pop("run", {})
    about["runs"][0]["metrics"] |= change.pop("metrics", {})
    content[artifact.ABOUT] = json.dumps(about | change).encode()
    with zipfile.ZipFile(file, "w") as packed:
        for name, text in content.items():
            packed.writestr(name, text)


def test_what_is_packaged_is_reproduced(runs: Path) -> None:
    made = package(runs, "a.zip")
    assert [one.name for one in made.runs] == ["mptcp", "tcp-wifi", "tcp-lte"]
    assert artifact.read(Path("a.zip")) == made
    progress: list[tuple[int, int]] = []
    verdict = verify("a.zip", progress=lambda *counts: progress.append(counts))
    assert verdict.reproduced
    assert progress == [(1, 3), (2, 3), (3, 3)]
    # It holds figures at all.
    assert verdict.found[0]["throughput_mbps"] == open_run("runs/mptcp").throughput_mbps


def test_an_artifact_is_beside_its_runs_unless_told(
    runs: Path, mptcplab: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = mptcplab("package", runs)
    assert done.stdout.startswith("runs-package.zip: 3 runs; mptcplab verify runs-package.zip")
    assert package(open_run(runs / "mptcp")).title == "mine"
    assert (runs / "mptcp-package.zip").exists()
    monkeypatch.chdir(runs / "mptcp")
    assert default_path(".") == Path("../mptcp-package.zip").resolve()


def test_the_same_artifact_has_the_same_bytes(runs: Path) -> None:
    package(runs, "a.zip")
    package(runs, "another/a.zip")
    assert Path("a.zip").read_bytes() == Path("another/a.zip").read_bytes()


def test_a_campaign_is_reproduced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(SCENARIO)
    campaign = sweep(CAMPAIGN | {"scenario": "mine.toml"}, out="losses")
    made = package("losses", "losses.zip")
    assert len(made.runs) == campaign.runs.height
    # Plain TCP over a path is of one scenario where the axis does not touch it, and not of another.
    assert len(made.scenarios) == 2
    assert verify("losses.zip").reproduced


def test_what_came_out_otherwise_is_said(runs: Path, mptcplab: Run) -> None:
    package(runs, "a.zip")
    changed(Path("a.zip"), {"metrics": {"throughput_mbps": 1.0, "longest_gap_ms": None}})
    verdict = verify("a.zip")
    assert {(one.run, one.metric, one.expected) for one in verdict.differences} == {
        ("mptcp", "throughput_mbps", 1.0),
        ("mptcp", "longest_gap_ms", None),
    }
    done = mptcplab("verify", "a.zip")
    assert done.returncode == 1
    assert "2 of 3 runs reproduced\n" in done.stdout
    assert "  mptcp: throughput_mbps was 1 and is " in done.stdout
    document = json.loads(mptcplab("verify", "--json", "a.zip").stdout)
    assert document["reproduced"] is False
    assert len(document["differences"]) == 2


def test_the_tolerance_is_of_the_value(runs: Path) -> None:
    package(runs, "a.zip", tolerance_percent=10)
    true = open_run(runs / "mptcp").throughput_mbps
    assert true is not None
    changed(Path("a.zip"), {"metrics": {"throughput_mbps": true * 1.05}})
    assert verify("a.zip").reproduced
    changed(Path("a.zip"), {"metrics": {"throughput_mbps": true * 1.15}})
    assert not verify("a.zip").reproduced


def test_another_seed_is_not_reproduced(runs: Path) -> None:
    package(runs, "a.zip")
    changed(Path("a.zip"), {"run": {"seed": 2}})
    assert not verify("a.zip").reproduced


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"schema": 2}, "a.zip has schema 2, and this mptcplab"),
        ({"engine": "magic"}, "magic"),
        ({"run": {"scenario": "../../etc/passwd"}}, "a.zip is damaged"),
        ({"run": {"more": 1}}, "a.zip is damaged"),
        ({"runs": 3}, "a.zip is damaged"),
    ],
)
def test_damaged_artifacts_are_refused(runs: Path, change: dict[str, Any], complaint: str) -> None:
    package(runs, "a.zip")
    changed(Path("a.zip"), change)
    with pytest.raises(Error) as error:
        verify("a.zip")
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


def test_what_is_no_artifact_is_refused(runs: Path, mptcplab: Run) -> None:
    Path("text").write_text("no zip")
    with zipfile.ZipFile("other.zip", "w") as packed:
        packed.writestr("a", "b")
    # A zip file of few bytes that would be many.
    with zipfile.ZipFile("bomb.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(artifact.ABOUT, "{}")
        packed.writestr("zeros", bytes(artifact.MOST_BYTES))
    Path("device.zip").symlink_to("/dev/zero")
    os.mkfifo("pipe.zip")
    for name, complaint in (
        ("device.zip", "cannot read device.zip: is not a regular file"),
        ("pipe.zip", "cannot read pipe.zip: is not a regular file"),
        ("nosuch.zip", "there is no such file; mptcplab package makes it"),
        ("text", "is not an artifact: it is not a zip file"),
        ("other.zip", "is not an artifact: it holds no artifact.json"),
        ("bomb.zip", "holds more than 256 MiB"),
        (".", "cannot read .: Is a directory"),
    ):
        done = mptcplab("verify", name)
        assert (done.returncode, done.stdout) == (2, "")
        assert complaint in done.stderr
        assert done.stderr.count("\n") == 1
    done = mptcplab("package", "mine.toml", "--out", "b.zip")
    assert done.returncode == 2
    assert not Path("b.zip").exists()
    done = mptcplab("package", str(runs), "--out", "b.zip", "--tolerance", "-1")
    assert "-1 is not a percentage from 0 to 100" in done.stderr
