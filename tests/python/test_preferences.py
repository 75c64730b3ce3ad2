"""Defaults from environment variables and from the file of a user; connections by a filter."""

from __future__ import annotations

import json
import pwd
from pathlib import Path
from typing import Any

import pytest

from command import Run
from mptcplab import Error, analyze
from mptcplab.cli import defaults
from mptcplab.engines import named
from mptcplab.results.choosing import choose


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a user's file would be."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for variable in defaults.VARIABLES.values():
        monkeypatch.delenv(variable, raising=False)
    defaults._file.cache_clear()
    (tmp_path / "mptcplab").mkdir()
    return tmp_path / "mptcplab" / "config.toml"


def test_what_is_typed_stands_before_the_environment_and_that_before_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulation, kernel = named("simulation"), named("kernel")
    assert (defaults.engine(), defaults.jobs_of(simulation, None)) == ("simulation", None)
    assert defaults.folder("runs", "x") == Path("runs/x")
    file.write_text('output = "/data"\njobs = 3\nengine = "kernel"\n')
    defaults._file.cache_clear()
    assert (defaults.engine(), defaults.jobs_of(simulation, None)) == ("kernel", 3)
    assert defaults.folder("runs", "x") == Path("/data/runs/x")
    # Runs in real time would disturb each other.
    assert defaults.jobs_of(kernel, None) is None
    assert defaults.jobs_of(kernel, 2) == 2
    for key, value in (("OUTPUT", "/other"), ("JOBS", "4"), ("ENGINE", "simulation")):
        monkeypatch.setenv(f"MPTCPLAB_{key}", value)
    assert (defaults.engine(), defaults.jobs_of(simulation, None)) == ("simulation", 4)
    assert defaults.folder("campaigns") == Path("/other/campaigns")
    assert defaults.jobs_of(simulation, 1) == 1


def test_who_has_no_home_directory_has_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers and build hosts run programs as users that nobody has entered."""
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    assert not defaults.location().exists()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('engine = "kernell"', "engine: there is no engine 'kernell'; did you mean kernel?"),
        ("job = 3", "job: there is no such key; did you mean jobs?"),
        ('engine = ["kernel"]', "engine: there is no engine ['kernel']"),
        ("jobs = 3\njobs = 4", "config.toml: Cannot overwrite a value"),
    ],
)
def test_faults_of_the_file_name_it(mptcplab: Run, file: Path, text: str, complaint: str) -> None:
    file.write_text(text)
    done = mptcplab("run", "wifi-lte", cwd=file.parent)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert str(file) in done.stderr
    assert complaint in done.stderr
    # Whoever asks for help needs none of it.
    assert mptcplab("run", "--help", cwd=file.parent).returncode == 0


def test_all_faults_of_the_file_are_told_at_once(file: Path) -> None:
    file.write_text('job = 3\noutput = ""\njobs = 0\nengine = "kernell"\nlog = "x"\n')
    with pytest.raises(Error) as refused:
        defaults.folder("runs")
    keys = [line.removeprefix(f"{file}: ").split()[0] for line in refused.value.args]
    assert keys == ["job:", "output", "jobs", "engine:", "log:"]


CONNECTIONS: list[dict[str, Any]] = [
    {
        "connection": number,
        "client_address": f"10.0.{number}.2",
        "client_port": 50000 + number,
        "server_address": "2001:db8::1" if number == 2 else "10.9.0.1",
        "server_port": port,
        "protocol": protocol,
        "checksums": number == 1,
    }
    for number, (port, protocol) in enumerate([(80, "tcp"), (443, "mptcp"), (443, "tcp")])
]
SUBFLOWS: list[dict[str, Any]] = [
    {"connection": 1, "path": "wifi"},
    {"connection": 2, "path": None},
]


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [
        ("port=443", [1, 2]),
        ("port=50000", [0]),
        ("port=443, protocol=tcp", [2]),
        ("protocol!=tcp", [1]),
        ("host=10.9.0.0/24", [0, 1]),
        ("host=2001:db8::/32", [2]),
        ("path=wifi", [1]),
        ("checksums=yes", [1]),
    ],
)
def test_filters(expression: str, chosen: list[int]) -> None:
    assert choose(expression, CONNECTIONS, SUBFLOWS) == chosen


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        ("port=22", "no connection of 3 meets 'port=22'"),
        ("port", "'port' is not KEY=VALUE"),
        ("prot=80", "connections have no prot; did you mean port?"),
        ("host=server", "neither an address nor a network"),
    ],
)
def test_faults_of_filters(expression: str, complaint: str) -> None:
    with pytest.raises(Error, match=complaint.replace("?", r"\?")):
        choose(expression, CONNECTIONS, SUBFLOWS)


def test_what_a_filter_chooses_is_measured_as_it_was(mptcplab: Run, download: list[str]) -> None:
    whole, chosen = (
        json.loads(mptcplab("analyze", "--json", *more, *download).stdout)
        for more in ((), ("--filter", "port=8080"))
    )
    assert chosen["connections"] == whole["connections"]
    in_python = analyze(download, filter_by="port=8080", connection=0)
    assert json.loads(in_python.json())["connections"] == whole["connections"]
    with pytest.raises(Error, match="connection 1 is not among the 1 that the filter chooses"):
        analyze(download, filter_by="port=8080", connection=1)
    done = mptcplab("analyze", "--filter", "port=1", *download)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "mptcplab: no connection of 1 meets 'port=1'\n"
