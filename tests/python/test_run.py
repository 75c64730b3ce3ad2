"""Runs: their directories, and what is printed of them."""

from __future__ import annotations

import gc
import json
import re
import shutil
import statistics
import subprocess
from pathlib import Path

import polars as pl
import pytest
from small import SMALL

import mptcplab as package
from command import Run
from mptcplab import Error, _core
from mptcplab.scenario import library, long
from mptcplab.scenario.scenario import load


def runs(out: Path) -> list[Path]:
    return [path for path in sorted(out.iterdir()) if path.is_dir()]


def everything(directory: Path) -> dict[str, bytes]:
    files = [path for path in sorted(directory.rglob("*")) if path.is_file()]
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def test_a_directory_per_run_holds_all_of_it(ran: Path, small: Path) -> None:
    there = sorted(path.name for path in ran.iterdir())
    assert there == ["mptcp", "report.html", "tcp-lte", "tcp-wifi"]
    for run in runs(ran):
        names = {path.name for path in run.iterdir()}
        assert names == {"scenario.toml", "run.json", "client.pcapng", "server.pcapng", "tables"}
        tables = {path.stem for path in (run / "tables").iterdir()}
        assert tables == set(package._core.Tables.NAMES)
        about = json.loads((run / "run.json").read_text())
        assert about["run"] == run.name
        assert about["scenario"] == "small"
        assert about["seed"] == 1
        assert about["mptcplab"] == package.__version__
        assert about["engine"] == "simulation"
        assert about["outcome"]["finished"] is True
        assert about["outcome"]["bytes_received"]["down"] == 300_000
        assert about["started"] <= about["ended"]
        assert "small.toml" in " ".join(about["command_line"])
        assert set(about["sha256"]) == {"client.pcapng", "server.pcapng"}
        assert (run / "scenario.toml").read_text() == long.write(load(small)[1])


def test_one_of_the_runs_is_opened(ran: Path, tmp_path: Path) -> None:
    opened = package.open_run(ran / "mptcp")
    (measured,) = opened.transfers.filter(direction=opened.about["direction"])["bytes"]
    captures = sorted((ran / "mptcp").glob("*.pcapng"))
    again = package.analyze(captures).transfers.filter(direction=opened.about["direction"])
    assert again["bytes"].to_list() == [measured]
    with pytest.raises(Error, match="holds several runs: open one of them, such as .*mptcp"):
        package.open_run(ran)
    with pytest.raises(Error, match="holds no run"):
        package.open_run(tmp_path)


def test_the_captures_hold_what_the_tables_say(ran: Path) -> None:
    for run in runs(ran):
        (transfer,) = (
            pl.read_parquet(run / "tables" / "transfers.parquet")
            .filter(direction="down")
            .iter_rows(named=True)
        )
        captured = package.analyze(sorted(run.glob("*.pcapng")))
        (again,) = captured.transfers.filter(direction="down").iter_rows(named=True)
        assert again["bytes"] == transfer["bytes"] == 300_000
        assert again["throughput_mbps"] == pytest.approx(transfer["throughput_mbps"])
        paths = set(captured.subflows["path"])
        assert paths == {"wifi", "lte"} if run.name == "mptcp" else {run.name.removeprefix("tcp-")}


def test_the_summary_holds_the_tables_figures(mptcplab: Run, small: Path, ran: Path) -> None:
    printed = mptcplab("run", small, "--out", ran).stdout
    head = (
        "small · something small · simulated · Linux's CUBIC, Linux's default scheduler · seed 1\n"
    )
    assert printed.startswith(head)
    best = 0.0
    for run, label in (
        ("mptcp", "MPTCP"),
        ("tcp-wifi", "TCP over wifi"),
        ("tcp-lte", "TCP over lte"),
    ):
        (row,) = (
            pl.read_parquet(ran / run / "tables" / "transfers.parquet")
            .filter(direction="down")
            .iter_rows(named=True)
        )
        (line,) = re.findall(rf"^  {label} +([\d.]+) ", printed, re.MULTILINE)
        assert float(line) == pytest.approx(row["throughput_mbps"], rel=0.005)
        best = max(best, row["throughput_mbps"] if run != "mptcp" else 0)
    (said,) = re.findall(r"best single path: \w+ with ([\d.]+) Mbit/s; MPTCP gives", printed)
    assert float(said) == pytest.approx(best, rel=0.005)
    assert re.search(
        r"^  of [\d.]+ Mbit/s, wifi carried .* and lte carried ", printed, re.MULTILINE
    )
    assert f"mptcplab analyze {ran}/mptcp/*.pcapng" in printed


def test_json_holds_the_same(mptcplab: Run, small: Path, ran: Path) -> None:
    document = json.loads(mptcplab("run", small, "--out", ran, "--json").stdout)
    assert document["schema"] == 1
    assert document["scenario"] == "small"
    assert list(document["runs"]) == ["mptcp", "tcp-wifi", "tcp-lte"]
    run = document["runs"]["mptcp"]
    assert run["about"] == json.loads((ran / "mptcp" / "run.json").read_text())
    (connection,) = run["tables"]["connections"]
    assert connection["transfers"]["down"]["throughput_mbps"] == run["throughput_mbps"]
    best = document["runs"][f"tcp-{document['best_path']}"]["throughput_mbps"]
    assert document["gain"] == pytest.approx(run["throughput_mbps"] / best - 1)
    shares = [subflow["flows"]["down"]["share"] for subflow in connection["subflows"]]
    assert sum(shares) == pytest.approx(1)


def test_tables_from_the_disk_nest_as_those_of_an_analysis(
    download: list[str], tmp_path: Path
) -> None:
    analysis = package.analyze(download)
    for name in package._core.Tables.NAMES:
        pl.DataFrame(analysis._tables.table(name)).write_parquet(tmp_path / f"{name}.parquet")
    from mptcplab.results.run import StoredTables

    assert json.loads(StoredTables(tmp_path).json()) == json.loads(analysis.json())


def test_what_is_there_is_kept(mptcplab: Run, small: Path, ran: Path) -> None:
    before = everything(ran)
    done = mptcplab("run", small, "--out", ran)
    assert done.stderr == f"{ran}: 3 runs kept from before\n"
    assert everything(ran) == before


def test_what_is_damaged_is_run_again(small: Path, ran: Path, tmp_path: Path) -> None:
    copy = tmp_path / "out"
    shutil.copytree(ran, copy)
    (copy / "mptcp" / "tables" / "rtt.parquet").unlink()
    (copy / "tcp-wifi" / "client.pcapng").write_bytes(b"")
    (copy / "tcp-lte" / "notes.txt").write_text("mine")
    begun = json.loads((copy / "tcp-lte" / "run.json").read_text())["started"]
    package.run(small, out=copy)
    captures = ("mptcp/client.pcapng", "tcp-wifi/client.pcapng", "mptcp/tables/rtt.parquet")
    for name in captures:
        assert (copy / name).read_bytes() == (ran / name).read_bytes()
    assert (copy / "tcp-lte" / "notes.txt").exists()
    assert json.loads((copy / "tcp-lte" / "run.json").read_text())["started"] == begun


@pytest.mark.parametrize(
    ("arguments", "differ"),
    [
        (["--seed", "2"], "its seed differs"),
        (["--set", "path.wifi.rate=1Mbps"], "its scenario differs"),
        (["--full-payload"], "its captures differs"),
        (["--seed", "2", "--set", "path.wifi.rate=1Mbps"], "its scenario and seed differ"),
    ],
)
def test_another_run_is_not_overwritten(
    mptcplab: Run, small: Path, ran: Path, arguments: list[str], differ: str
) -> None:
    before = everything(ran)
    done = mptcplab("run", small, "--out", ran, *arguments)
    assert done.returncode == 2
    assert done.stderr == (
        f"mptcplab: {ran}/mptcp holds another run ({differ}): choose another place (--out) or "
        "replace it (--force)\n"
    )
    assert everything(ran) == before


def test_force_replaces_runs_and_nothing_else(mptcplab: Run, small: Path, tmp_path: Path) -> None:
    arguments = ("run", small, "--out", tmp_path, "--no-baselines", "--no-captures")
    assert mptcplab(*arguments).returncode == 0
    assert not list(tmp_path.rglob("*.pcapng"))
    assert mptcplab(*arguments, "--seed", 2, "--force").returncode == 0
    assert json.loads((tmp_path / "mptcp" / "run.json").read_text())["seed"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mptcp", "report.html"]
    (tmp_path / "mptcp" / "run.json").unlink()
    done = mptcplab(*arguments, "--force")
    assert done.returncode == 2
    assert f"{tmp_path}/mptcp is there and is not a run: choose another place" in done.stderr
    assert (tmp_path / "mptcp" / "scenario.toml").exists()


def test_the_same_seed_gives_the_same_bytes(small: Path, ran: Path, tmp_path: Path) -> None:
    again = package.run(small, out=tmp_path)
    for run in again.runs:
        about = json.loads((ran / run.name / "run.json").read_text())
        assert run.about["sha256"] == about["sha256"]
        for table in (ran / run.name / "tables").iterdir():
            assert pl.read_parquet(table).equals(
                pl.read_parquet(run.directory / "tables" / table.name)
            )
    other = package.run(small, out=tmp_path / "other", seed=2, baselines=False)
    assert other.mptcp.about["sha256"] != again.mptcp.about["sha256"]


def test_the_place_is_named_after_scenario_and_seed(mptcplab: Run, tmp_path: Path) -> None:
    def new_directories(*arguments: object) -> set[str]:
        before = set(tmp_path.glob("runs/*"))
        done = mptcplab("run", *arguments, "--no-baselines", "--no-captures", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return {path.name for path in set(tmp_path.glob("runs/*")) - before}

    short = ("--set", "transfer.size=100kB")
    assert new_directories("wifi-lte") == {"wifi-lte-1"}
    assert new_directories("wifi-lte") == set()
    (changed,) = new_directories("wifi-lte", *short)
    assert re.fullmatch(r"wifi-lte-[0-9a-f]{6}-1", changed)
    # A file that is edited and run again is another scenario each time, and nothing is lost.
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    (first,) = new_directories(file)
    assert re.fullmatch(r"small-[0-9a-f]{6}-1", first)
    assert new_directories(file, "--seed", 3) == {first[:-1] + "3"}
    file.write_text(SMALL.replace("10 Mbit/s", "9 Mbit/s"))
    (second,) = new_directories(file)
    assert second != first
    file.write_text(SMALL)
    assert new_directories(file) == set()
    assert new_directories(file, "--repeat", 2) == {first[:-2]}
    seeds = {str(path.relative_to(tmp_path / "runs")) for path in tmp_path.glob("runs/*/*/mptcp")}
    assert seeds == {f"{first[:-2]}/{seed}/mptcp" for seed in (1, 2)}


def test_the_command_to_copy_is_one_for_a_shell(mptcplab: Run, small: Path, tmp_path: Path) -> None:
    """It names the captures, whatever the scenario is called."""
    file = shutil.copy(small, tmp_path / "a b;c'[d].toml")
    done = mptcplab("run", Path(file).name, "--no-baselines", "--no-report", cwd=tmp_path)
    suggested = re.search("; mptcplab analyze (.*) takes a closer look", done.stdout)
    assert suggested
    shown = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {suggested[1]}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert [Path(name).name for name in shown] == ["client.pcapng", "server.pcapng"]
    assert all((tmp_path / name).is_file() for name in shown)


def test_repeated_runs_have_mean_and_deviation(mptcplab: Run, small: Path, tmp_path: Path) -> None:
    arguments = ("run", small, "--repeat", 2, "--out", tmp_path, "--no-baselines", "--no-captures")
    neighbour = ("--set", 'cross_traffic=[{link="lte", name="next-door", stop="1 s"}]')
    repeated = mptcplab(*arguments)
    assert re.search(r"^  mean +± σ +[\d.]+ ± [\d.]+$", repeated.stdout, re.MULTILINE)
    assert "nothing to chance" not in repeated.stdout
    settled = ("--set", "path.wifi.loss=0 %", "--set", "run.processing=0 s")
    alike = mptcplab(*arguments, "--force", *neighbour, *settled)
    assert re.search(r"^  seed +MPTCP Mbit/s  next-door Mbit/s$", alike.stdout, re.MULTILINE)
    assert re.search(r"^  mean  ± σ +[\d.]+ ± 0 +[\d.]+ ± 0$", alike.stdout, re.MULTILINE)
    assert "all seeds gave the same: this scenario leaves nothing to chance" in alike.stdout


def test_the_gain_of_repeated_runs_is_of_mean_throughputs(
    mptcplab: Run, small: Path, tmp_path: Path
) -> None:
    lossy = ("--set", "path.lte.loss=2 %", "--set", "path.wifi.loss=2 %")
    printed = mptcplab("run", small, "--repeat", 3, "--out", tmp_path / "text", *lossy).stdout
    done = mptcplab("run", small, "--repeat", 3, "--out", tmp_path / "json", *lossy, "--json")
    repeated = [one["runs"] for one in json.loads(done.stdout)["repeated"]]
    mean = {
        run: statistics.fmean(one[run]["throughput_mbps"] for one in repeated)
        for run in repeated[0]
    }
    gain = mean.pop("mptcp") / max(mean.values()) - 1
    assert re.search(rf"^  mean .* {100 * gain:.0f} %$", printed, re.MULTILINE)


def test_plain_tcp_is_not_called_mptcp(mptcplab: Run, small: Path, tmp_path: Path) -> None:
    printed = mptcplab("run", small, "--out", tmp_path, "--set", "mptcp.enabled=false").stdout
    assert re.search(r"^  plain TCP  ", printed, re.MULTILINE)
    assert "plain TCP gives as much" in printed
    assert "MPTCP" not in printed


def test_repeated_as_json(mptcplab: Run, small: Path, tmp_path: Path) -> None:
    done = mptcplab("run", small, "--repeat", 2, "--out", tmp_path, "--no-baselines", "--json")
    document = json.loads(done.stdout)
    assert [one["seed"] for one in document["repeated"]] == [1, 2]
    assert document["repeated"][0]["gain"] is None


def test_what_did_not_finish_is_told_and_beats_nobody(
    mptcplab: Run, small: Path, tmp_path: Path
) -> None:
    arguments = ("run", small, "--out", tmp_path, "--set", "run.stop=200 ms")
    done = mptcplab(*arguments)
    assert done.returncode == 1  # and its runs are kept
    assert len(re.findall(r"^  .* not finished$", done.stdout, re.MULTILINE)) == 3
    assert "  ! TCP over lte did not finish: " in done.stdout
    # Bytes have units.
    text = " ".join(done.stdout.split())
    assert re.search(r"did not finish: stopped after 0.2 s: .* \d+(\.\d+)? kB", text)
    assert not re.search(r"\d{4} bytes", text)
    assert "no single path finished the transfer" in done.stdout
    document = json.loads(mptcplab(*arguments, "--json").stdout)
    assert document["gain"] is None
    assert document["best_path"] is None
    assert document["runs"]["mptcp"]["about"]["outcome"]["virtual_ns"] == 200_000_000


@pytest.mark.parametrize(
    ("verb", "reason"),
    [
        ("blackout", r"the server gave up after \d{6} bytes written and 0 read: nobody answered"),
        ("detach", "read: the address of its last subflow went"),
    ],
)
def test_why_an_end_gave_up_is_said_in_words(small: Path, verb: str, reason: str) -> None:
    away = [f'{{at="100 ms", path="{path}", verb="{verb}"}}' for path in ("wifi", "lte")]
    settings = [f"timeline=[{', '.join(away)}]", "tcp.retries=2", "mptcp.close_timeout=1 s"]
    outcome = package.run(small, settings=settings, baselines=False).mptcp.outcome
    assert re.search(reason, outcome["reason"])
    assert not re.search(r"[()]", outcome["reason"])


@pytest.mark.parametrize("name", library.names("scenarios"))
def test_what_ships_runs_to_its_end(name: str) -> None:
    mptcp = package.run(name, baselines=False).mptcp
    assert mptcp.outcome["finished"], mptcp.outcome["reason"]
    (direction,) = {row["direction"] for row in [mptcp.transfer] if row}
    carried = mptcp.flows.filter(pl.col("direction") == direction, pl.col("bytes") > 0)
    # Every path had its part; what a proxy has with the server is of no path.
    paths = carried.join(mptcp.subflows, on=["connection", "subflow"])["path"]
    assert set(paths) - {None, ""} == set(load(name)[1].paths)


def test_from_python_without_a_place(small: Path) -> None:
    comparison = package.run(small, seed=4, settings=["transfer.size=100 kB"])
    directory = comparison.directory
    assert comparison.mptcp.about["seed"] == 4
    assert sorted(comparison.baselines) == ["lte", "wifi"]
    assert comparison.best_path in comparison.baselines
    assert comparison.gain is not None
    assert comparison.mptcp.transfers.filter(direction="down")["bytes"].to_list() == [100_000]
    # Both ends have one clock: nothing about it is estimated.
    assert "clock_offset" not in comparison.mptcp.diagnostics["diagnostic"].to_list()
    lte = comparison.baselines["lte"]
    (delay,) = lte.flows.filter(direction="down")["one_way_delay_ms_median"]
    assert delay >= 20
    tables = comparison.mptcp.tables
    del comparison
    # Whoever holds a run, or its tables, can look at it.
    assert list(tables.rows("reordering"))
    del tables
    assert lte.flows.height
    assert lte.rtt_ms_mean is not None
    assert lte.rtt_ms_mean >= 40
    assert directory.exists()
    del lte
    gc.collect()
    assert not directory.exists()


def test_from_python_as_a_dictionary() -> None:
    scenario = {
        "schema": 1,
        "transfer": {"direction": "upload", "size": "50 kB"},
        "path": {"wifi": {"rate": "10 Mbit/s", "delay": "5 ms"}},
    }
    comparison = package.run(scenario, baselines=False)
    assert comparison.baselines == {}
    assert comparison.gain is None
    assert comparison.mptcp.transfers.filter(direction="up")["bytes"].to_list() == [50_000]


@pytest.mark.parametrize("what", ["scenarios", "campaigns", "links"])
def test_what_ships_is_listed_and_printed(mptcplab: Run, what: str) -> None:
    listed = mptcplab(what).stdout
    for name in library.names(what):
        title = library.table(what, name)["title"]
        assert re.search(rf"^{name} +{re.escape(title)}$", listed, re.MULTILINE)
        assert mptcplab(what, name).stdout == library.text(what, name)


def test_what_links_are_made_of_is_listed(mptcplab: Run) -> None:
    listed = mptcplab("links").stdout
    parts = [*_core.elements(), *_core.queues()]
    for part in parts:
        (line,) = re.findall(rf"^{part['name']} +(.*)$", listed, re.MULTILINE)
        assert " ".join(part["summary"].split()).startswith(line)
        assert 10 < len(line) < 120
        shown = mptcplab("links", part["name"]).stdout
        assert shown.startswith(f"{part['name']}: ")
        assert all(
            f"  {parameter['name']} ({parameter['kind']}" in shown
            for parameter in part["parameters"]
        )
    assert len({part["name"] for part in parts} & set(library.names("links"))) == 0


def test_why_buffers_of_subflows_stood_still_is_said(tmp_path: Path) -> None:
    text = SMALL.replace('size = "300 kB"', 'size = "100 MB"')
    settings = ["mptcp.receive_buffer=per-subflow", "run.stop=1 s"]
    (tmp_path / "small.toml").write_text(text)
    made = package.run(tmp_path / "small.toml", settings=settings, baselines=True)
    assert 'receive_buffer = "per-subflow"' in made.mptcp.outcome["reason"]
    assert all("per-subflow" not in str(one.outcome["reason"]) for one in made.baselines.values())
