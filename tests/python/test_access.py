"""Places that may not be entered, or cannot be there, are named in the complaint."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import mptcplab as package
from campaigns import written
from requirements import need_tool

# Rights by which root enters anything.
WITHOUT = "-dac_override,-dac_read_search"
COMMANDS = {
    "analyze": ["analyze", "{}/x.pcap"],
    "calibrate": ["calibrate", "{}/x.pcap"],
    "compare": ["compare", "{}/a", "{}/b"],
    "figure": ["figure", "gain", "{}/a", "--out", "gain.png"],
    "report": ["report", "{}/a"],
    "report of a run": ["report", "{}/a", "--run", "0123456789abcdef"],
    "run": ["run", "{}/a.toml"],
    "sweep": ["sweep", "{}/a.toml"],
    "a campaign's scenario": ["sweep", "elsewhere.toml"],
    "run to": ["run", "small.toml", "--out", "{}/o"],
    "sweep to": ["sweep", "campaign.toml", "--out", "{}/o"],
    "dry run": ["sweep", "campaign.toml", "--out", "{}/o", "--dry-run"],
    "tables to": ["analyze", "{capture}", "--csv", "{}/o"],
    "page to": ["analyze", "{capture}", "--report", "{}/o/page.html"],
}


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory that nobody may enter."""
    directory = tmp_path_factory.mktemp("closed")
    written(directory, repetitions=1)
    (directory / "shut").mkdir(mode=0)
    (directory / "elsewhere.toml").write_text('schema = 1\nscenario = "shut/a.toml"\n')
    yield directory / "shut"
    (directory / "shut").chmod(0o700)


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_what_may_not_be_entered_is_named(closed: Path, refused: str, arguments: list[str]) -> None:
    command = [sys.executable, "-m", "mptcplab"]
    if os.geteuid() == 0:
        need_tool("setpriv")
        command = ["setpriv", "--bounding-set", WITHOUT, *command]
    command += [word.replace("{}", "shut").replace("{capture}", refused) for word in arguments]
    done = subprocess.run(
        command, cwd=closed.parent, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    line = done.stderr.splitlines()[-1]
    assert line.startswith(("mptcplab: ", "elsewhere.toml"))
    assert "shut" in line
    assert "ermission denied" in line or "is not readable" in line
    assert "standard output" not in line


@pytest.mark.parametrize("command", ["analyze", "report", "run", "sweep"])
def test_a_name_that_is_too_long_is_no_fault_of_the_output(command: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mptcplab", command, "x" * 300],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "xxx" in done.stderr
    assert "ame too long" in done.stderr
    assert "standard output" not in done.stderr


def test_in_python_they_are_errors_of_ours(tmp_path: Path) -> None:
    for function in (package.open_run, package.open_campaign, package.write_report):
        with pytest.raises(package.Error, match="ame too long"):
            function(tmp_path / ("x" * 300))
    with pytest.raises(package.Error, match="ame too long"):
        package.compare(tmp_path / ("x" * 300), tmp_path)
