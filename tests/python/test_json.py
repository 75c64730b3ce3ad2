"""``--json``: what commands say, as programs read it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from captures import exchange, write
from command import Run
from mptcplab.cli.main import parser, run
from mptcplab.engines.field import set_up
from serving import HOST, free_port, serving
from world import CAMPAIGN, SCENARIO

# They print what a shell or a person reads, and nothing else.
WITHOUT = {"completion", "help"}

# Flags with which a command says something else, and how to ask for that.
MODES = {
    ("analyze", "--sources"): (),
    ("analyze", "--why"): ("{capture}",),
    ("figure", "--list"): (),
    ("links import", "--formats"): (),
    ("radio", "--papers"): (),
    ("report", "--issue"): ("{ran}", "--out", "{there}/issue.zip"),
    ("schedule", "--dry-run"): ("{there}/weeks.toml",),
    ("schedule", "--systemd"): ("{there}/weeks.toml",),
    ("serve", "--systemd"): (),
    ("sweep", "--dry-run"): ("{swept}",),
    ("why", "--try"): ("{ran}",),
}
# What is printed with these is no JSON, so they refuse it.
REFUSING = {("probe", "--scenario"): ("{line}",), ("scenarios", "--json-schema"): ()}
# These change a machine, or take a server that runs: tests below and elsewhere hold them to it.
ELSEWHERE = {("doctor", "--undo"), ("doctor", "--set-up"), ("serve", "--open")}
# Flags that change what is done, or what is beside the JSON.
OTHERS = {
    *(
        "--all",
        "--cookies",
        "--force",
        "--full-payload",
        "--help",
        "--json",
        "--mptcpize",
        "--no-baselines",
    ),
    "--mptcpize-all",
    *("--no-captures", "--no-live", "--no-report", "--observe", "--open", "--quick", "--quiet"),
    *("--routes", "--transparent", "--unaligned", "--verbose"),
}


def printed(mptcplab: Run, *arguments: object) -> Any:
    """Run a command, and read what it prints."""
    done = mptcplab(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return write(tmp_path / "client.pcap", exchange(1000, 0, 1000))


def test_every_command_that_says_something_has_it() -> None:
    lacking = {
        name
        for name, command in parser().commands.items()  # type: ignore[attr-defined]
        if "--json" not in command._option_string_actions
    }
    assert lacking == WITHOUT


def test_no_flag_is_forgotten() -> None:
    """Another flag that has a command say something else comes with its JSON."""
    flags = {
        (name, action.option_strings[-1])
        for name, command in parser().commands.items()  # type: ignore[attr-defined]
        for action in command._actions
        if action.nargs == 0
    }
    known = {*MODES, *REFUSING, *ELSEWHERE}
    assert known <= flags
    assert {(name, flag) for name, flag in flags - known if flag not in OTHERS} == set()


@pytest.mark.parametrize(("asked", "more"), MODES.items(), ids=" ".join)
def test_what_a_flag_has_it_say(
    mptcplab: Run,
    asked: tuple[str, str],
    more: tuple[str, ...],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    name, flag = asked
    printed(mptcplab, *name.split(), flag, *_filled(more, request, tmp_path))


@pytest.mark.parametrize(("asked", "more"), REFUSING.items(), ids=" ".join)
def test_what_has_no_json_refuses_it(
    mptcplab: Run,
    asked: tuple[str, str],
    more: tuple[str, ...],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    name, flag = asked
    done = mptcplab(*name.split(), flag, *_filled(more, request, tmp_path), "--json")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "--json" in done.stderr


def _filled(arguments: tuple[str, ...], request: pytest.FixtureRequest, there: Path) -> list[str]:
    """Give the words with what they name made."""
    (there / "weeks.toml").write_text(CAMPAIGN.replace("networks", "field"))
    (there / "field.toml").write_text(SCENARIO)
    names = {"there": there, "line": f"127.0.0.1:1#{'0' * 64}"}
    for name, fixture in (("capture", "capture"), ("ran", "ran"), ("swept", "campaign_file")):
        if any(f"{{{name}}}" in word for word in arguments):
            names[name] = request.getfixturevalue(fixture)
    return [word.format(**names) for word in arguments]


def test_a_unit_for_systemd(mptcplab: Run) -> None:
    plain = mptcplab("serve", "--systemd").stdout
    assert printed(mptcplab, "serve", "--systemd")["unit"] + "\n" == plain


def test_what_was_undone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(set_up, "undo", lambda: 2)
    assert run(["doctor", "--undo", "--json"]) == 0
    out, err = capsys.readouterr()
    assert (json.loads(out), err) == ({"undone": 2}, "")


def test_a_page(mptcplab: Run, capture: Path) -> None:
    page = capture.with_name("page.html")
    assert printed(mptcplab, "report", capture, "--out", page) == {"file": str(page)}
    assert page.exists()


def test_a_bundle_for_an_issue(mptcplab: Run, ran: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "issue.zip"
    said = printed(mptcplab, "report", ran, "--issue", "--out", bundle)
    assert said == {"file": str(bundle)}


def test_a_figure(mptcplab: Run, capture: Path) -> None:
    drawn = capture.with_name("rtt.svg")
    said = printed(mptcplab, "figure", "throughput", capture, "--out", drawn)
    assert (said["file"], said["kind"]) == (str(drawn), "throughput")
    assert said["caption"].startswith("Throughput")


def test_the_kinds_of_figures(mptcplab: Run) -> None:
    kinds = {one["name"]: one for one in printed(mptcplab, "figure", "--list")}
    boxes = kinds["boxes"]
    assert (boxes["kind"], boxes["of"]) == ("figure", "campaign")
    assert "by" in boxes["options"]


def test_the_sources_of_analyze(mptcplab: Run) -> None:
    names = [one["name"] for one in printed(mptcplab, "analyze", "--sources")]
    assert {"iperf3", "qlog"} <= set(names)


def test_what_was_annotated(mptcplab: Run, ran: Path, tmp_path: Path) -> None:
    log = tmp_path / "radio.csv"
    log.write_text("time,path,technology,rsrp_dbm\n2026-11-25T12:00:00Z,wifi,wifi,-60\n")
    out = tmp_path / "run"
    printed(mptcplab, "run", "wifi-lte", "--no-baselines", "--out", out)
    arguments = ("annotate", out, "--radio", log, "--began", "2026-11-25T12:00:00Z")
    expected = {"directory": str(out / "mptcp"), "rows": {"radio": 1, "positions": 0}}
    assert printed(mptcplab, *arguments) == {"runs": [expected]}


def test_what_was_anonymised(mptcplab: Run, capture: Path, tmp_path: Path) -> None:
    (one,) = printed(mptcplab, "anonymise", capture, "--out", tmp_path / "public")["captures"]
    assert one["file"] == str(tmp_path / "public" / "client.pcapng")
    assert one["packets"] > 0
    assert (one["replaced"], one["cut"]) == (0, False)


def test_a_server_says_where_it_is_and_what_it_did(tmp_path: Path) -> None:
    with serving(tmp_path, "--json") as server:
        assert server.said["event"] == "serving"
        assert server.said["token"] == str(server.state / "token")
        assert server.said["probe_ports"] == [server.line.port + 1]
        assert server.transfer()
        assert server.process.stdout is not None
        server.process.terminate()
        ended = json.loads(server.process.stdout.read())
    assert ended["event"] == "ended"
    assert ended["carried_bytes"] >= 100_000
    assert ended["turned_away"] == {}


def test_a_server_of_downloads_does_so_too(tmp_path: Path) -> None:
    arguments = ["serve", "--open", "--json", "--name", HOST, "--address", HOST]
    arguments += [
        "--port",
        str(free_port()),
        "--state",
        str(tmp_path),
        "--out",
        str(tmp_path / "runs"),
    ]
    command = [sys.executable, "-m", "mptcplab", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        serving = json.loads(server.stdout.readline())
        server.terminate()
        ended = json.loads(server.stdout.read())
    assert serving["address"] == f"http://{HOST}:{arguments[arguments.index('--port') + 1]}/"
    assert serving["runs"] == str(tmp_path / "runs")
    assert ended == {"event": "ended", "carried_bytes": 0, "turned_away": {}}
