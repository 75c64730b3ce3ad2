"""What the command prints and how it exits."""

from __future__ import annotations

import gzip
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from command import Run
from mptcplab import __version__
from mptcplab.cli.main import parser
from requirements import need_tool


def one_line(text: str) -> str:
    """The line of a text that must have just one."""
    assert text.endswith("\n")
    assert text.count("\n") == 1, text
    return text.strip()


def test_version(mptcplab: Run) -> None:
    assert mptcplab("--version").stdout == f"mptcplab {__version__}\n"


def test_help_names_every_command_and_shows_examples(mptcplab: Run) -> None:
    assert "analyze" in mptcplab("--help").stdout
    assert "examples:" in mptcplab("analyze", "--help").stdout


def test_help_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples are as long as they are: they are to be copied."""
    monkeypatch.setenv("COLUMNS", "100")
    for name, command in parser().commands.items():  # type: ignore[attr-defined]
        text = command.format_help().partition("\nexamples:")[0]
        assert [line for line in text.splitlines() if len(line) > 100] == [], name


def test_help_of_a_command_is_what_its_option_prints(mptcplab: Run) -> None:
    assert mptcplab("help", "run").stdout == mptcplab("run", "--help").stdout
    assert mptcplab("help").stdout == mptcplab("--help").stdout
    of_two_words = mptcplab("help", "links", "import").stdout
    assert of_two_words == mptcplab("links", "import", "--help").stdout
    assert of_two_words.startswith("usage: mptcplab links import ")
    assert "\n    links import\n" in mptcplab("help").stdout
    done = mptcplab("help", "rnu")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "did you mean run?" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "COMMAND"),
        (["analyse"], "invalid choice: 'analyse'; did you mean analyze?"),
        (["run", "--engine", "kernl", "x"], "invalid choice: 'kernl'; did you mean kernel?"),
        (["analyze"], "FILE"),
        (["analyze", "--bin", "0", "x"], "--bin: 0 is not a number of seconds above 0"),
        (["analyze", "--bin", "1e-12", "x"], "--bin: 1e-12 is shorter than a nanosecond"),
        (["analyze", ""], "FILE: the name is empty"),
        (["analyze", "--csv", "", "x"], "--csv: the name is empty"),
        (["analyze", "--bin", "nan", "x"], "--bin: nan is not a number of seconds"),
        (["analyze", "--trim", "-1", "x"], "--trim: -1 is not a number of seconds"),
        (["analyze", "--smoothing", "long", "x"], "--smoothing: long is not a number of seconds"),
        (["analyze", "--connection", "-1", "x"], "--connection: -1 is not a number"),
        (["analyze", "--from", "2 parsec", "x"], "--from: 2 parsec is not a number of seconds"),
        (["analyze", "--colour", "x"], "--colour; see mptcplab analyze --help"),
        (["run", "--no-baseline", "x"], "--no-baseline; did you mean --no-baselines?"),
        (["version"], "did you mean --version?"),
        (["analyze", "--par", "x", "y"], "--par"),
        (["analyze", "no-such-file.pcap"], "no-such-file.pcap: there is no such file"),
        (["analyze", "/"], "/: is a directory"),
        (["analyze", __file__], "is neither pcap nor pcapng"),
        (["analyze", "--json", "--csv", "x", "no-such-file.pcap"], "no-such-file.pcap"),
    ],
)
def test_what_cannot_be_done_gets_one_line_and_status_2(
    mptcplab: Run, arguments: list[str], complaint: str
) -> None:
    done = mptcplab(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert complaint in one_line(done.stderr)


def test_lengths_of_time_may_have_units(mptcplab: Run, download: list[str]) -> None:
    plain = mptcplab("analyze", "--from", "0.5", "--to", "2", *download)
    assert plain.returncode == 0
    assert mptcplab("analyze", "--from", "500ms", "--to", "2 s", *download).stdout == plain.stdout


def test_summary_names_the_paths(mptcplab: Run, download: list[str]) -> None:
    done = mptcplab("analyze", *download)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "MPTCP v1" in done.stdout
    assert "wifi" in done.stdout
    assert "lte" in done.stdout
    assert "\x1b" not in done.stdout


def test_json_nests_rows(mptcplab: Run, download: list[str]) -> None:
    document = json.loads(mptcplab("analyze", "--json", *download).stdout)
    assert document["schema"] == 1
    assert document["complete"] is True
    (connection,) = document["connections"]
    assert connection["transfers"]["down"]["bytes"] == 4_000_000
    assert [subflow["path"] for subflow in connection["subflows"]] == ["wifi", "lte"]
    shares = [subflow["flows"]["down"]["share"] for subflow in connection["subflows"]]
    assert sum(shares) == pytest.approx(1)


def test_standard_input(mptcplab: Run, download: list[str]) -> None:
    with gzip.open(download[0]) as capture:
        piped = mptcplab("analyze", "--json", "-", input=capture.read(), text=False)
    assert piped.returncode == 0
    assert json.loads(piped.stdout)["connections"][0]["subflows"][0]["path"] == "wifi"


def test_a_cut_capture_is_analysed_with_a_warning(
    mptcplab: Run, download: list[str], tmp_path: Path
) -> None:
    cut = tmp_path / "cut.pcapng"
    with gzip.open(download[0]) as capture:
        cut.write_bytes(capture.read()[:100_000])
    done = mptcplab("analyze", "--json", cut)
    assert done.returncode == 0
    assert "warning" in one_line(done.stderr)
    document = json.loads(done.stdout)
    assert document["complete"] is False
    assert [row["diagnostic"] for row in document["diagnostics"]].count("capture_cut") == 1
    assert document["connections"]


def test_a_part_of_a_capture_is_what_tshark_makes_of_it(
    mptcplab: Run, download: list[str], tmp_path: Path
) -> None:
    need_tool("tshark")
    part = tmp_path / "part.pcapng"
    wanted = "frame.time_relative >= 0.5 && frame.time_relative <= 1.5"
    subprocess.run(
        ["tshark", "-r", download[0], "-Y", wanted, "-w", part], check=True, capture_output=True
    )
    spoken = ["analyze", "--json", "--from", "0.5", "--to", "1.5", download[0]]
    ours, theirs = (
        json.loads(mptcplab(*arguments).stdout) for arguments in (spoken, [*spoken[:2], part])
    )
    assert ours["connections"][0]["began"] == "midway"
    for row in (row for document in (ours, theirs) for row in document["connections"]):
        # Where packets stand in their files.
        for event in row["events"]:
            del event["capture"], event["record"]
        del row["findings"]
    assert ours["connections"] == theirs["connections"]
    done = mptcplab("analyze", "--from", "2", "--to", "1", download[0])
    assert (done.returncode, done.stdout) == (2, "")
    assert "--to is 1, and must be above --from, 2" in one_line(done.stderr)


def test_a_part_after_the_end_is_refused(mptcplab: Run, download: list[str]) -> None:
    done = mptcplab("analyze", "--from", "100", *download)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nothing is left from 100 s on: the captures end 3." in one_line(done.stderr)


def test_connection(mptcplab: Run, download: list[str]) -> None:
    assert mptcplab("analyze", "--connection", 0, *download).returncode == 0
    done = mptcplab("analyze", "--connection", 7, *download)
    assert done.returncode == 2
    assert "no connection 7" in one_line(done.stderr)


def test_a_closed_pipe_is_no_fault(download: list[str]) -> None:
    command = [sys.executable, "-m", "mptcplab", "analyze", "--json", *download]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in (0, 141)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_a_full_disk_is_told_in_one_line(
    mptcplab: Run, download: list[str], arguments: list[str]
) -> None:
    with Path("/dev/full").open("w") as full:
        streams = {"capture_output": False, "stdout": full, "stderr": subprocess.PIPE}
        done = mptcplab("analyze", *arguments, *download, **streams)
    assert done.returncode == 2
    complaint = "mptcplab: cannot write standard output: No space left on device"
    assert one_line(done.stderr) == complaint


@pytest.mark.parametrize("arguments", [["scenarios"], ["links", "lte"], ["analyze"], ["--version"]])
def test_closed_standard_output_is_one_line(download: list[str], arguments: list[str]) -> None:
    command = [sys.executable, "-m", "mptcplab", *arguments]
    if arguments == ["analyze"]:
        command += download
    line = f"{shlex.join(command)} >&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "mptcplab: cannot write standard output: Bad file descriptor\n"


def test_closed_standard_error_takes_nothing_away(download: list[str]) -> None:
    line = f"{shlex.join([sys.executable, '-m', 'mptcplab', 'analyze', *download])} 2>&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "\n\nconnection 0" in done.stdout


@pytest.mark.parametrize(
    ("what", "kinds"),
    [
        ("controllers", {"congestion controller"}),
        ("schedulers", {"scheduler"}),
        ("path-managers", {"path manager"}),
        ("scenarios", {"scenario"}),
        ("links", {"link", "element", "queue"}),
        ("campaigns", {"campaign"}),
        ("study", {"experiment"}),
        ("radio", {"technology"}),
    ],
)
def test_lists_have_one_shape(mptcplab: Run, what: str, kinds: set[str]) -> None:
    listed = json.loads(mptcplab(what, "--json").stdout)
    assert {one["kind"] for one in listed} == kinds
    shown = mptcplab(what).stdout.splitlines()
    for one in listed:
        assert one["summary"]
        assert any(line.split()[:1] == [one["name"]] for line in shown)


@pytest.mark.parametrize("what", ["scenarios", "links", "campaigns"])
def test_what_ships_is_told_as_json_too(mptcplab: Run, what: str) -> None:
    listed = json.loads(mptcplab(what, "--json").stdout)
    one = json.loads(mptcplab(what, listed[0]["name"], "--json").stdout)
    assert one == listed[0] | {"toml": mptcplab(what, listed[0]["name"]).stdout}
    element = json.loads(mptcplab("links", "loss", "--json").stdout)
    assert (element["kind"], element["parameters"][0]["name"]) == ("element", "ratio")
