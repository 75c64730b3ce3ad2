"""Damaged runs and campaigns: which file it is, and advice that helps."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import mptcplab as package
from campaigns import written
from command import Run

RUN = ["mptcp/run.json", "mptcp/scenario.toml", "tcp-wifi/tables/flows.parquet"]
CAMPAIGN = ["campaign.json", "plan.parquet", "failures.json", "scenarios/0.toml"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run and a campaign, beside what made them."""
    directory = tmp_path_factory.mktemp("whole")
    file = written(directory, repetitions=1)
    package.run(directory / "small.toml", out=directory / "run", captures="none")
    package.sweep(file, out=directory / "swept")
    (directory / "swept" / "failures.json").write_text('{"0123456789abcdef": "it took too long"}')
    return directory


@pytest.mark.parametrize("name", RUN)
def test_a_damaged_run_says_what_helps(
    mptcplab: Run, whole: Path, tmp_path: Path, name: str
) -> None:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    damage(tmp_path / "run" / name)
    done = mptcplab("compare", "run", whole / "run", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    alone = mptcplab("report", Path("run", Path(name).parts[0]), cwd=tmp_path)
    assert alone.stderr.splitlines() == [line]
    said = re.fullmatch(
        rf"mptcplab: run/{name} is damaged \(.+\): remove (\S+) and run it again", line
    )
    assert said
    shutil.rmtree(tmp_path / said[1])
    arguments = ("run", "small.toml", "--out", "run", "--no-captures", "--no-report")
    assert mptcplab(*arguments, cwd=tmp_path).returncode == 0
    assert mptcplab("compare", "run", whole / "run", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("name", CAMPAIGN)
def test_a_damaged_campaign_says_what_helps(
    mptcplab: Run, whole: Path, tmp_path: Path, name: str
) -> None:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    damage(tmp_path / "swept" / name)
    done = mptcplab("report", "swept", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    said = re.fullmatch(rf"mptcplab: swept/{name} is damaged \(.+\): (.*)", line)
    assert said
    out = "swept"
    if said[1].startswith("remove it and sweep again"):
        (tmp_path / "swept" / name).unlink()
    elif said[1].startswith("sweep again into another place"):
        out = "other"
    else:
        assert said[1] == "sweep again"
    assert mptcplab("sweep", "campaign.toml", "--out", out, cwd=tmp_path).returncode == 0
    assert mptcplab("report", out, cwd=tmp_path).returncode == 0


def damage(file: Path) -> None:
    """Leave what an interrupted copy leaves."""
    content = file.read_bytes()
    file.write_bytes(content[: len(content) * 2 // 3] + b'= "\xff')
