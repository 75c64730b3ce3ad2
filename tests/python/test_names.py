"""Directories are what their names say: no character of a name is a pattern or an address."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import mptcplab as package
from campaigns import written
from command import Run
from mptcplab.cli.main import parser
from mptcplab.cli.main import run as command_line
from mptcplab.results.files import read_parquet, scan_parquet, write_parquet
from serving import HOST, serving
from world import THREE_DAYS, World, known, scheduled
from world import written as calendar_written

# Each beside a neighbour that it would match if it were a pattern.
NAMES = [("s*p", "s1p"), ("a[1]", "a1"), ("~", "x"), ("b?c", "b1c"), ("**", "x"), ("{d,e}", "d")]
# All at once, for what takes longer.
COMMANDS = [("~[1]*", "~1x")]
# Those that read and write no files by names that somebody chose ...
WITHOUT_FILES = {
    *("scenarios", "links", "campaigns", "controllers", "schedulers", "path-managers"),
    *("radio", "doctor", "guard", "convert", "completion", "help"),
}
# ... and those whose tests name them elsewhere: tests/engine/test_shell.py, serving.py,
# test_recordings.py.
ELSEWHERE = {"shell", "serve", "links import"}
# What polars makes of these is not a name in this directory.
NAMES_OF_OTHERS = ["~", "~root", "file:", "http:", "%20", "x=1", "a b", "new\nline"]


def _campaign(tmp_path: Path, name: str, size: str) -> Path:
    directory = tmp_path / f"of-{size.replace(' ', '-')}"
    axis = (
        f'schema = 1\nrepetitions = 1\nscenario = "small.toml"\n[set]\n"transfer.size" = "{size}"\n'
    )
    return written(directory, axis).rename(directory / f"{name}.toml")


@pytest.mark.parametrize("name", [name for pair in NAMES for name in pair] + NAMES_OF_OTHERS)
def test_a_table_is_written_and_read_by_its_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for one in {name, *(name for pair in NAMES for name in pair)}:
        Path(one).mkdir()
        write_parquet(pl.DataFrame({"name": [one]}), Path(one, "t.parquet"))
    for file in (Path(name, "t.parquet"), tmp_path / name / "t.parquet"):
        assert file.is_file()
        assert read_parquet(file)["name"].to_list() == [name]
        assert scan_parquet([file]).collect().to_dict(as_series=False) == {"name": [name]}


@pytest.mark.parametrize(("name", "neighbour"), COMMANDS)
def test_runs_are_read_by_their_names(
    name: str, neighbour: str, tmp_path: Path, mptcplab: Run
) -> None:
    def command(*arguments: object) -> str:
        done = mptcplab(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    def size(document: str) -> int:
        rows = json.loads(document)["runs"]["mptcp"]["tables"]["connections"]
        return int(rows[0]["transfers"]["down"]["bytes"])

    written(tmp_path)
    run = ("run", "small.toml", "--json", "--out")
    assert size(command(*run, neighbour, "--set", "transfer.size=100 kB")) == 100_000
    assert size(command(*run, name, "--set", "transfer.size=50 kB")) == 50_000
    # It is there already, and read only.
    assert size(command(*run, name, "--set", "transfer.size=50 kB")) == 50_000
    compared = json.loads(command("compare", "--json", f"{name}/mptcp", f"{neighbour}/mptcp"))
    assert {row["key"] for row in compared["configuration"]} >= {"transfer.size"}
    assert "50.0 kB" in command("run", "small.toml", "--out", name, "--set", "transfer.size=50 kB")
    # The larger transfer took longer.
    ends = [json.loads(command("why", "--json", one))["findings"][0] for one in (name, neighbour)]
    assert ends[0]["to_s"] < ends[1]["to_s"]
    assert json.loads(command("why", "--try", "--json", name))["findings"][0] == ends[0]
    assert command("report", f"{name}/mptcp") == f"{name}/mptcp.html\n"
    command("figure", "throughput", name, "--out", f"{name}/figure.svg")
    captures = [f"{name}/mptcp/{end}.pcapng" for end in ("client", "server")]
    analysed = json.loads(command("analyze", "--json", *captures))
    assert analysed["connections"][0]["transfers"]["down"]["bytes"] == 50_000
    command("analyze", "--parquet", f"{name}/tables", "--csv", f"{name}/tables", *captures)
    kept = read_parquet(tmp_path / name / "tables" / "transfers.parquet")
    assert 50_000 in kept["bytes"]
    command("analyze", "--report", f"{name}/capture.html", *captures)
    assert {path.name for path in tmp_path.iterdir()} >= {name, neighbour}
    assert package.open_run(tmp_path / name / "mptcp").transfers.filter(direction="down")[
        "bytes"
    ].to_list() == [50_000]


@pytest.mark.parametrize(("name", "neighbour"), COMMANDS)
def test_repeated_runs_are_read_by_their_names(
    name: str, neighbour: str, tmp_path: Path, mptcplab: Run
) -> None:
    written(tmp_path)
    for out, size in ((neighbour, 60_000), (name, 20_000), (name, 20_000)):
        arguments = ("--repeat", "2", "--json", "--out", out, "--set", f"transfer.size={size} B")
        done = mptcplab("run", "small.toml", *arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        for one in json.loads(done.stdout)["repeated"]:
            rows = one["runs"]["mptcp"]["tables"]["connections"]
            assert rows[0]["transfers"]["down"]["bytes"] == size
    done = mptcplab("compare", "--json", name, neighbour, cwd=tmp_path)
    assert [side["seeds"] for side in map(json.loads(done.stdout).get, "ab")] == [[1, 2], [1, 2]]


@pytest.mark.parametrize(("name", "neighbour"), COMMANDS)
def test_captures_are_anonymised_by_their_names(
    name: str, neighbour: str, tmp_path: Path, mptcplab: Run, download: list[str]
) -> None:
    for number, one in enumerate((neighbour, name)):
        (tmp_path / one).mkdir()
        (tmp_path / one / "secret").write_bytes(bytes([number]) * 32)
        (tmp_path / one / f"{one}.pcapng.gz").write_bytes(Path(download[number]).read_bytes())
        arguments = (f"{one}/{one}.pcapng.gz", "--out", f"{one}/out", "--secret", f"{one}/secret")
        done = mptcplab("anonymise", *arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    made = [package.analyze(tmp_path / one / "out" / f"{one}.pcapng") for one in (neighbour, name)]
    assert [one.connections["vantage"].to_list() for one in made] == [["client"], ["server"]]
    addresses = {one.connections["client_address"][0] for one in made}
    assert len(addresses) == 2


def test_a_token_is_read_by_its_name(tmp_path: Path, mptcplab: Run) -> None:
    (tmp_path / "s1p").write_text("a token that both ends have\n")
    line = f"127.0.0.1:1#{'0' * 64}"
    done = mptcplab("probe", line, "--token", "s*p", cwd=tmp_path)
    assert done.returncode == 2
    assert "s*p" in done.stderr


@pytest.mark.parametrize(("name", "neighbour"), COMMANDS)
def test_campaigns_are_read_by_their_names(
    name: str, neighbour: str, tmp_path: Path, mptcplab: Run
) -> None:
    def command(*arguments: object) -> str:
        done = mptcplab(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    small, large = (_campaign(tmp_path, "one", size) for size in ("20 kB", "60 kB"))
    for out, file in ((neighbour, large), (name, small)):
        command("sweep", file, "--out", out, "--no-report", "--jobs", "1")
        campaign = package.open_campaign(tmp_path / out)
        assert campaign.runs.height == campaign.plan.height == 3
        down = campaign.table("transfers").collect().filter(direction="down")
        assert set(down["bytes"]) == {20_000 if out == name else 60_000}
    document = json.loads(command("sweep", small, "--out", name, "--json"))
    assert document["configurations"][0]["runs"]["mptcp"]["throughput_mbps"]["n"] == 1
    assert "3 are already done" in command("sweep", small, "--out", name, "--dry-run")
    assert command("report", name) == f"{name}/report.html\n"
    key = campaign.runs["run"][0]
    assert command("report", name, "--run", key) == f"{name}/reports/{key}.html\n"
    command("figure", "bars", name, "--value", "throughput_mbps", "--out", f"{name}/bars.svg")
    compared = json.loads(command("compare", "--json", name, neighbour))
    assert {row["key"] for row in compared["configuration"]} >= {"transfer.size"}


def test_schedules_go_on_by_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = World(tmp_path / "world")
    for name, days in (("s1p", 3), ("s*p", 1)):
        file = calendar_written(tmp_path, THREE_DAYS.replace("for_days = 3", f"for_days = {days}"))
        campaign = scheduled(world, file, tmp_path / name)
        before = world.truth()
        assert scheduled(world, file, tmp_path / name).runs.equals(campaign.runs)
        assert world.truth() == before
        with known(world):
            arguments = [
                "schedule",
                str(file),
                "--dry-run",
                "--json",
                "--out",
                str(tmp_path / name),
            ]
            assert command_line(arguments) == 0
        document = json.loads(capsys.readouterr().out)
        assert (document["visits"], document["visits_to_come"]) == (campaign.visits.height, 0)
    assert campaign.visits.height < package.open_campaign(tmp_path / "s1p").visits.height


def test_a_server_keeps_its_state_by_its_name(tmp_path: Path, mptcplab: Run) -> None:
    (tmp_path / "s1p").mkdir()
    with serving(tmp_path / "s1p") as neighbour:
        pass
    (tmp_path / "s*p").mkdir()
    with serving(tmp_path / "s*p") as server:
        assert server.token != neighbour.token
        line = f"{HOST}:{server.line.port}#{server.line.fingerprint}"
        arguments = ("probe", line, "--idle", "0", "--parquet", "p[1]", "--csv", "p[1]", "--token")
        refused = mptcplab(*arguments, "s1p/state/token", cwd=tmp_path)
        assert refused.returncode == 2
        assert not (tmp_path / "p[1]").exists()
        done = mptcplab(*arguments, "s*p/state/token", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert read_parquet(tmp_path / "p[1]" / "probes.parquet").height
    assert {file.name for file in (tmp_path / "p[1]").iterdir()} == {"probes.csv", "probes.parquet"}


@pytest.mark.parametrize(("name", "neighbour"), COMMANDS)
def test_runs_are_annotated_packaged_and_verified_by_their_names(
    name: str, neighbour: str, tmp_path: Path, mptcplab: Run
) -> None:
    def command(*arguments: object) -> str:
        done = mptcplab(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    written(tmp_path)
    for number, one in enumerate((neighbour, name)):
        command("run", "small.toml", "--no-baselines", "--out", one)
        log = tmp_path / one / f"{one}.csv"
        log.write_text(f"time,path,rsrp_dbm\n0,wifi,{-80 - number}\n")
        began = "1970-01-01T00:00:00Z"
        command("annotate", one, "--radio", f"{one}/{one}.csv", "--began", began)
        command("package", one, "--out", f"{one}/{one}.zip")
    levels = [
        package.open_run(tmp_path / one / "mptcp").radio["rsrp_dbm"].to_list()
        for one in (neighbour, name)
    ]
    assert levels == [[-80], [-81]]
    assert "1 of 1 runs reproduced" in command("verify", f"{name}/{name}.zip")


def test_every_command_is_tried() -> None:
    (commands,) = (action.choices for action in parser()._actions if action.choices)
    _, source = Path(__file__).read_text().split("def _campaign", 1)
    tried = {name for name in map(str, commands) if f'"{name}"' in source}
    assert tried | WITHOUT_FILES | ELSEWHERE == set(map(str, commands))
    assert not tried & (WITHOUT_FILES | ELSEWHERE)


def test_captures_and_links_are_read_and_written_by_their_names(
    tmp_path: Path, mptcplab: Run, download: list[str]
) -> None:
    directory = tmp_path / "c[a]*"
    directory.mkdir()
    (tmp_path / "ca").mkdir()
    for link in (directory / "l?nk.toml", tmp_path / "ca" / "link.toml"):
        done = mptcplab("calibrate", "--row", "naist/B/wimax", "--runs", "2", "--out", link)
        assert done.returncode in (0, 1), done.stderr
        assert link.is_file()
    captures = [directory / f"{end}?.pcapng.gz" for end in ("client", "server")]
    for capture, source in zip(captures, download, strict=True):
        capture.write_bytes(Path(source).read_bytes())
    assert json.loads(mptcplab("compare", "--json", captures[0], directory).stdout)
    done = mptcplab("figure", "throughput", directory, "--out", directory / "f[1].png")
    assert done.returncode == 0, done.stderr
    assert (directory / "f[1].png").is_file()


def test_a_study_is_read_by_its_name(tmp_path: Path, mptcplab: Run) -> None:
    def ran(name: str) -> object:
        arguments = ("study", "simultaneous-syn", "--quick", "--out", name, "--json")
        done = mptcplab(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    first = ran("s*")
    ran("s1")
    assert ran("s*") == first
