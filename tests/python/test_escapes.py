"""Names that others chose steer no terminal, wherever they are printed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from campaigns import SCENARIO
from captures import exchange, write
from command import Run
from mptcplab.labels import text
from serving import HOST, free_port

# ESC, C1's CSI, what turns the direction of writing, a carriage return, a new line.
NAME = "a\x1b[2Jb\x9b2Jc\u202ed\re\nf"
QUOTED = json.dumps(NAME)


def steers(said: str) -> set[str]:
    """Give what of a text steers a terminal, but for the ends of lines."""
    return {sign for sign in said if unicodedata.category(sign) in ("Cc", "Cf")} - {"\n"}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory with files that have such names, and such names in them."""
    (tmp_path / "small.toml").write_text(SCENARIO)
    (tmp_path / f"{NAME}.toml").write_text(SCENARIO)
    (tmp_path / "key.toml").write_text(f"{SCENARIO}\n[{QUOTED}]\n{QUOTED} = {QUOTED}\n")
    (tmp_path / "title.toml").write_text(f"title = {QUOTED}\n{SCENARIO}")
    (tmp_path / "path.toml").write_text(SCENARIO.replace("path.wifi", f"path.{QUOTED}"))
    (tmp_path / "trace.toml").write_text(f"{SCENARIO}trace = {QUOTED}\n")
    (tmp_path / "axis.toml").write_text(
        f'schema = 1\nscenario = "small.toml"\n[axis.{QUOTED}]\nkey = {QUOTED}\nvalues = [1]\n'
    )
    (tmp_path / "link.toml").write_text(f"{SCENARIO}profile = {QUOTED}\n")
    (tmp_path / "empty").touch()
    capture = write(tmp_path / f"{NAME}.pcap", exchange(1000, 0, 1000))
    (tmp_path / f"{NAME}-cut.pcap").write_bytes(capture.read_bytes()[:-3])
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["analyze", NAME],
        ["analyze", f"{NAME}.pcap", "--csv", f"{NAME}.pcap"],
        ["analyze", f"{NAME}.pcap", "--report", f"{NAME}/x.html", f"--{NAME}"],
        ["analyze", f"{NAME}.pcap", "--bin", NAME],
        ["run", NAME],
        ["run", "key.toml"],
        ["run", "path.toml"],
        ["run", "trace.toml"],
        ["run", "link.toml"],
        ["run", "small.toml", "--set", NAME],
        ["run", "small.toml", "--set", f"{NAME}=1"],
        ["run", "small.toml", "--set", f"path.{NAME}.rate=1"],
        ["run", "small.toml", "--set", f"mptcp.scheduler={NAME}"],
        ["run", "small.toml", "--out", f"{NAME}.pcap/x"],
        ["run", "small.toml", "--engine", NAME],
        ["run", "small.toml", "--seed", NAME],
        ["sweep", NAME],
        ["sweep", "axis.toml"],
        ["sweep", "small.toml", "--out", NAME],
        ["report", NAME],
        ["report", "small.toml", "--run", NAME],
        ["figure", NAME, "small.toml", "--out", "x.pdf"],
        ["figure", "throughput", NAME, "--out", "x.pdf"],
        ["figure", "throughput", f"{NAME}.pcap", "--out", NAME],
        ["compare", NAME, "small.toml"],
        ["calibrate", NAME],
        ["calibrate", "--row", NAME],
        ["calibrate", f"{NAME}.pcap", "--controller", NAME],
        ["study", NAME],
        ["shell", NAME],
        ["shell", "small.toml", NAME],
        ["scenarios", NAME],
        ["links", NAME],
        ["campaigns", NAME],
        ["controllers", NAME],
        ["radio", NAME],
        ["anonymise", NAME, "--out", "x"],
        ["anonymise", f"{NAME}.pcap", "--out", f"{NAME}.pcap"],
        ["anonymise", f"{NAME}.pcap", "--out", f"{NAME}.pcap/x"],
        ["anonymise", f"{NAME}.pcap", f"{NAME}.pcap", "--out", "x"],
        ["anonymise", f"{NAME}.pcap", "--out", "x", "--secret", NAME],
        ["anonymise", f"{NAME}.pcap", "--out", "x", "--secret", "empty"],
        ["probe", NAME, "--token", NAME],
        ["probe", NAME, "--token", "small.toml", "--idle", NAME],
        ["probe", NAME, "--token", "small.toml", f"--{NAME}"],
        ["serve", NAME],
        ["serve", "--address", NAME],
        ["serve", "--port", NAME],
        ["serve", "--rate", NAME],
        ["serve", "--per-run", NAME],
        ["serve", "--clients", NAME],
        ["serve", "--state", f"{NAME}.pcap"],
        ["guard", NAME],
        ["guard", f"--{NAME}"],
        ["doctor", NAME],
        ["path-managers", NAME],
        ["schedulers", NAME],
        [NAME],
    ],
)
def test_what_is_refused_is_said_in_one_harmless_line(
    arguments: list[str], directory: Path, mptcplab: Run
) -> None:
    done = mptcplab(*arguments, cwd=directory)
    assert done.returncode == 2
    assert steers(done.stdout + done.stderr) == set()
    assert done.stderr.count("\n") == 1


def test_what_is_written_is_said_harmlessly(directory: Path, mptcplab: Run) -> None:
    for arguments in (
        ["analyze", f"{NAME}-cut.pcap"],
        ["analyze", f"{NAME}.pcap", "--csv", f"{NAME}-csv"],
        ["run", f"{NAME}.toml", "--out", f"{NAME}-run"],
        ["run", f"{NAME}.toml", "--out", f"{NAME}-run"],
        ["run", "title.toml", "--out", f"{NAME}-title"],
        ["compare", f"{NAME}-run", f"{NAME}-title"],
        ["figure", "throughput", f"{NAME}-run", "--out", f"{NAME}.svg"],
        ["anonymise", f"{NAME}.pcap", f"{NAME}-cut.pcap", "--out", f"{NAME}-public"],
    ):
        done = mptcplab(*arguments, cwd=directory)
        assert done.returncode == 0, done.stderr
        assert steers(done.stdout + done.stderr) - {text.SPACE} == set()


def test_a_server_says_its_names_harmlessly(directory: Path) -> None:
    # The line that clients need is on standard output, and what it serves on standard error.
    arguments = ["serve", "--state", NAME, "--address", HOST]
    with subprocess.Popen(
        [sys.executable, "-m", "mptcplab", *arguments, "--port", str(free_port())],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        assert server.stdout is not None
        said = [server.stdout.readline() for _ in range(2)]
        server.send_signal(signal.SIGINT)
        said.append(server.stdout.read())
    assert any("#" in line for line in said)
    assert steers("".join(said)) == set()


def test_a_name_that_no_server_has_is_refused_harmlessly(directory: Path, mptcplab: Run) -> None:
    done = mptcplab("serve", "--name", NAME, "--state", "state", cwd=directory)
    assert done.returncode == 2
    assert "is not the name or address of a host" in done.stderr
    assert steers(done.stdout + done.stderr) == set()


def test_colours_in_a_name_colour_nothing(directory: Path, mptcplab: Run) -> None:
    done = mptcplab("run", "small.toml", "--out", "a\x1b[31mred", cwd=directory)
    assert "holds the runs" in done.stdout
    assert steers(done.stdout) == set()


def test_a_program_gets_the_path_as_it_is(directory: Path, mptcplab: Run) -> None:
    mptcplab("run", "small.toml", "--out", f"{NAME}-run", cwd=directory)
    done: Any = mptcplab("report", f"{NAME}-run", cwd=directory, text=False)
    assert done.stdout == f"{NAME}-run/report.html\n".encode()


def test_json_is_harmless_and_says_the_same(directory: Path, mptcplab: Run) -> None:
    done = mptcplab("run", f"{NAME}.toml", "--out", f"{NAME}-run", "--json", cwd=directory)
    assert steers(done.stdout) == set()
    assert NAME in json.loads(done.stdout)["runs"]["mptcp"]["about"]["scenario"]
    done = mptcplab("analyze", f"{NAME}-cut.pcap", "--json", cwd=directory)
    assert steers(done.stdout) == set()
    (remark,) = (
        one for one in json.loads(done.stdout)["diagnostics"] if one["diagnostic"] == "capture_cut"
    )
    assert remark["capture"] == f"{NAME}-cut.pcap"
    done = mptcplab("compare", f"{NAME}-run", f"{NAME}-cut.pcap", "--json", cwd=directory)
    assert steers(done.stdout) == set()


@pytest.mark.parametrize("value", ["\x7f\x85\x9b\u2028\u202e\u2066\u061c", "é 😀 \u202f", "\udc9b"])
def test_escaping_keeps_what_json_says(value: str) -> None:
    said = text.escaped(json.dumps({value: [value]}, ensure_ascii=False))
    assert json.loads(said) == {value: [value]}
    assert not any(0x7F <= ord(sign) < 0xA0 or sign in "\u2028\u202e\u2066" for sign in said)
