"""Engines are values: a further one is a class and a line, and everybody else asks it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mptcplab
from campaigns import SCENARIO, written
from mptcplab.cli.main import run as command
from mptcplab.engines import ENGINES
from mptcplab.engines.engine import Programs
from mptcplab.results.record import run_programs
from mptcplab.scenario.scenario import load

NAME = "replay"
MEANS = "one recorded transfer, whatever is asked"


@pytest.fixture(autouse=True)
def registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the engine here, and in workers, which import its class."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.chdir(tmp_path)
    from replay import Replay

    ENGINES[NAME] = Replay()
    yield
    del ENGINES[NAME]


def test_the_command_runs_and_draws_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("small.toml").write_text(SCENARIO)
    arguments = ["run", "small.toml", "--engine", NAME]
    assert command(arguments) == 0
    assert "replayed from download" in capsys.readouterr().out
    (directory,) = Path("runs").iterdir()
    assert f"-{NAME}-1" in directory.name
    about = json.loads((directory / "mptcp" / "run.json").read_text())
    assert (about["engine"], about["identity"]["recorded"]) == (NAME, "download")
    assert MEANS in (directory / "report.html").read_text()
    captures = sorted((directory / "mptcp").glob("*.pcapng"))
    assert [one.name for one in captures] == ["client.pcapng", "server.pcapng"]
    stored = mptcplab.open_run(directory / "mptcp")
    assert stored.transfers.equals(mptcplab.analyze(captures).transfers)
    assert command(arguments) == 0
    assert "3 runs kept from before" in capsys.readouterr().err


def test_help_tells_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("run", "study"):
        with pytest.raises(SystemExit, match="0"):
            command([name, "--help"])
        assert f"{NAME}: {MEANS}" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {"mptcp": {"scheduler": "redundant"}},
            r'\[mptcp\] scheduler: the replay engine cannot have "redundant": it has "linux"',
        ),
        (
            {"timeline": [{"at": "1 s", "path": "wifi", "verb": "blackout"}]},
            r'\[\[timeline\]\] wifi: verb: the replay engine cannot have "blackout": it has none',
        ),
    ],
)
def test_it_refuses_by_name_what_it_cannot(changed: dict[str, Any], words: str) -> None:
    scenario = tomllib.loads(SCENARIO) | changed
    with pytest.raises(mptcplab.ScenarioError, match=words):
        mptcplab.run(scenario, out="out", engine=NAME)
    with pytest.raises(mptcplab.ScenarioError, match=words):
        mptcplab.sweep({"schema": 1, "scenario": scenario, "engine": NAME}, out="out")
    assert not Path("out").exists()


def test_it_refuses_captures_and_programs_that_it_cannot_have() -> None:
    with pytest.raises(mptcplab.Error, match="captures is 'full'; it must be one of none, headers"):
        mptcplab.run("wifi-lte", captures="full", engine=NAME)
    name, scenario = load("wifi-lte", [])
    with pytest.raises(mptcplab.Error, match="the replay engine runs no programs"):
        run_programs(ENGINES[NAME], scenario, Path("out"), Programs(["true"]), name=name)
    assert not Path("out").exists()


def test_campaigns_of_it_are_swept_drawn_and_compared(capsys: pytest.CaptureFixture[str]) -> None:
    file = written(Path("mine"))
    file.write_text(file.read_text().replace("title", f'engine = "{NAME}"\ntitle'))
    assert command(["sweep", str(file), "--out", "swept"]) == 0
    assert "small, replayed from download" in capsys.readouterr().out
    campaign = mptcplab.open_campaign("swept")
    assert campaign.runs.height == 18 + 12
    assert campaign.runs["throughput_mbps"].n_unique() == 1
    assert MEANS in Path("swept", "report.html").read_text()
    key = campaign.runs["run"][0]
    assert f"--engine {NAME}" in campaign.command(key)
    with pytest.raises(mptcplab.Error, match="it was measured in real time"):
        campaign.report(run=key)

    Path("simulated").mkdir()
    simulated = mptcplab.sweep(written(Path("simulated")), out=Path("other"))
    assert f"--engine {NAME}" not in simulated.command(simulated.runs["run"][0])
    assert command(["compare", "swept", "other"]) == 0
    assert "replayed from download" in capsys.readouterr().out
