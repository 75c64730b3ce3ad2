"""Campaigns: what their runs are, and what is read back of them."""

from __future__ import annotations

import json
import re
import shlex
import statistics
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

import mptcplab as package
from campaigns import CAMPAIGN, TABLES, assert_same, table, written
from command import Run
from mptcplab import Error, metrics
from mptcplab.campaign import definition
from mptcplab.campaign.matrix import Matrix
from mptcplab.cli.summary.campaign import print_campaign
from mptcplab.labels import text
from mptcplab.results import groups, overview
from mptcplab.results.campaign import Campaign
from mptcplab.results.run import Run as RunDirectory
from mptcplab.scenario import library


def test_there_is_a_run_for_each_combination_and_seed(swept: Campaign) -> None:
    assert swept.axes == {"size": ["20 kB", "60 kB"], "controller": ["lia", "olia", "cubic"]}
    mptcp = swept.runs.filter(kind="mptcp")
    found = mptcp.select("size", "controller", "repetition", "seed").rows()
    wanted = [
        (size, controller, repetition, repetition)
        for size in ("20 kB", "60 kB")
        for repetition in (1, 2, 3)
        for controller in ("lia", "olia", "cubic")
    ]
    assert found == wanted
    assert mptcp["configuration"].to_list() == [0, 1, 2] * 3 + [3, 4, 5] * 3
    assert swept.runs["run"].n_unique() == swept.runs.height == 18 + 2 * 3 * 2
    assert swept.failures.is_empty()


def test_a_pair_has_one_seed_and_every_baseline_once(swept: Campaign) -> None:
    for _, pair in swept.runs.group_by("pair"):
        assert pair["seed"].n_unique() == 1
        assert pair["size"].n_unique() == 1
        assert pair.filter(kind="mptcp")["controller"].sort().to_list() == ["cubic", "lia", "olia"]
        assert pair.filter(kind="tcp")["path"].sort().to_list() == ["lte", "wifi"]
        # They are beside all controllers, so that they have none.
        assert pair.filter(kind="tcp")["controller"].null_count() == 2
        assert pair.filter(kind="tcp")["configuration"].null_count() == 2


def test_gain_is_over_the_best_baseline_of_the_pair(swept: Campaign) -> None:
    for (_,), pair in swept.runs.group_by("pair"):
        single = dict(pair.filter(kind="tcp").select("path", "throughput_mbps").iter_rows())
        best = max(single, key=lambda path: single[path])
        for row in pair.filter(kind="mptcp").iter_rows(named=True):
            assert row["best_path"] == best
            assert row["gain"] == pytest.approx(row["throughput_mbps"] / single[best] - 1)
        assert pair.filter(kind="tcp")["gain"].null_count() == len(single)


def test_a_run_is_what_run_gives_for_its_scenario_and_seed(swept: Campaign, tmp_path: Path) -> None:
    for kind, name in (("mptcp", "mptcp"), ("tcp", "tcp-lte")):
        row = swept.runs.filter(kind=kind).row(-1, named=True)
        (tmp_path / "s.toml").write_text(swept.scenario(row["run"]))
        out = tmp_path / kind
        package.run(tmp_path / "s.toml", seed=row["seed"], out=out, captures="none")
        alone = RunDirectory(out / name)
        assert row["throughput_mbps"] == alone.throughput_mbps
        assert row["rtt_ms_mean"] == pytest.approx(alone.rtt_ms_mean)
        assert row["loss_rate_percent"] == alone.loss_rate_percent
        for one in TABLES:
            stored = table(swept, one).filter(run=row["run"]).drop("run")
            assert_frame_equal(stored, alone.tables.table(one))


def test_the_command_repeats_a_run(swept: Campaign, mptcplab: Run, tmp_path: Path) -> None:
    for kind, name in (("mptcp", "mptcp"), ("tcp", "tcp-lte")):
        row = swept.runs.filter(kind=kind).row(-1, named=True)
        arguments = shlex.split(swept.command(row["run"]))
        assert arguments.pop(0) == "mptcplab"
        done = mptcplab(*arguments, "--out", tmp_path / kind, "--no-captures", "--json")
        repeated = json.loads(done.stdout)["runs"]
        assert repeated[name]["throughput_mbps"] == row["throughput_mbps"]
        assert list(repeated) == (
            ["mptcp"] if kind == "mptcp" else ["mptcp", "tcp-wifi", "tcp-lte"]
        )


def test_tables_hold_all_runs_and_figures_come_from_them(swept: Campaign) -> None:
    for name in (*TABLES[:-1],):
        assert set(table(swept, name)["run"]) == set(swept.runs["run"])
    down = table(swept, "transfers").filter(direction="down")
    joined = swept.runs.join(down, on="run", suffix="_table")
    assert joined.height == swept.runs.height
    for name in (name for name, one in metrics.OF_RUNS.items() if not one.pooled):
        assert joined[name].to_list() == joined[f"{name}_table"].to_list()


def test_the_summary_holds_what_the_runs_say(
    swept: Campaign, campaign_file: Path, mptcplab: Run
) -> None:
    done = mptcplab("sweep", campaign_file, "--out", swept.directory)
    assert done.returncode == 0
    assert done.stderr == f"{swept.directory}: 30 runs, all there\n"
    assert done.stdout.startswith(
        "campaign · something small · small, simulated · Linux's default scheduler · 30 runs\n\n"
        "  size   controller  n"
    )
    few = "3 repetitions are too few to rule out chance: at least 6 are needed for p < 0.05"
    assert f"  ! {few}, 8 where" in done.stdout
    document = json.loads(
        mptcplab("sweep", campaign_file, "--out", swept.directory, "--json").stdout
    )
    assert (document["repetitions"], document["repetitions_needed"]) == (3, 6)
    assert len(document["configurations"]) == 6
    for one in document["configurations"]:
        own = swept.runs.filter(configuration=one["configuration"])
        assert one["axes"] == own.select("size", "controller").row(0, named=True)
        plain = swept.runs.filter(kind="tcp", path="lte", size=one["axes"]["size"])
        for name, runs in (("mptcp", own), ("tcp-lte", plain)):
            values = runs["throughput_mbps"].to_list()
            stated = one["runs"][name]["throughput_mbps"]
            assert (stated["n"], one["runs"][name]["finished"]) == (3, 3)
            assert stated["mean"] == pytest.approx(statistics.fmean(values))
            assert stated["sigma"] == pytest.approx(statistics.stdev(values))
            shown = text.spread(stated["mean"], stated["sigma"])
            (line,) = re.findall(rf"^  {' +'.join(one['axes'].values())} +3 .*$", done.stdout, re.M)
            assert shown in line
        # One gain everywhere: the ratio of means, over the path that is best on average.
        best = max(
            statistics.fmean(
                swept.runs.filter(kind="tcp", path=path, size=one["axes"]["size"])[
                    "throughput_mbps"
                ].to_list()
            )
            for path in ("wifi", "lte")
        )
        mean = statistics.fmean(own["throughput_mbps"].to_list())
        assert one["gain"]["mean"] == pytest.approx(mean / best - 1)
        assert one["gain"]["low"] <= one["gain"]["mean"] <= one["gain"]["high"]
        assert f"{100 * one['gain']['mean']:.0f}" in line.split("[")[0].split()[-2]


def test_a_scenario_is_no_campaign_and_a_campaign_no_scenario(
    mptcplab: Run, tmp_path: Path
) -> None:
    """Files and names that ship: each complaint names the command that runs it."""
    written(tmp_path)
    for sweep, run in (
        ("small.toml: is a scenario", "campaign.toml: is a campaign"),
        ("wifi-lte is a scenario", "size-and-controller is a campaign"),
    ):
        for verb, other, message in (("sweep", "run", sweep), ("run", "sweep", run)):
            name = message.split()[0].removesuffix(":")
            done = mptcplab(verb, name, cwd=tmp_path)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr == f"mptcplab: {message}: mptcplab {other} runs it\n"


def test_a_dry_run_counts_and_writes_nothing(
    swept: Campaign, campaign_file: Path, mptcplab: Run, tmp_path: Path
) -> None:
    done = mptcplab("sweep", campaign_file, "--dry-run", "--out", tmp_path / "out", "--jobs", "1")
    assert done.returncode == 0
    assert "6 configurations × 3 repetitions, and 12 runs of plain TCP beside them: 30 runs" in (
        done.stdout
    )
    few = (
        "3 repetitions are too few to rule out chance: at least 6 are needed for p < 0.05, 8 where"
    )
    assert f"! {few} one of 6 configurations alone differs" in done.stdout
    almost = written(tmp_path / "almost", repetitions=7)
    output = mptcplab("sweep", almost, "--dry-run", "--out", tmp_path / "out").stdout
    assert "! 7 repetitions are too few to rule out chance where one of 6 configurations" in output
    enough = written(tmp_path / "enough", repetitions=8)
    output = mptcplab("sweep", enough, "--dry-run", "--out", tmp_path / "out").stdout
    assert "rule out chance" not in output
    assert re.search(r"30 runs left: .*, 1 at a time; .* 30 runs tried just now", done.stdout)
    assert not (tmp_path / "out").exists()
    more = written(tmp_path / "more", repetitions=5)
    arguments = ("sweep", more, "--dry-run", "--jobs", "1", "--out", swept.directory)
    document = json.loads(mptcplab(*arguments, "--json").stdout)
    assert (document["campaign"], document["configurations"], document["repetitions"]) == (
        "campaign",
        6,
        5,
    )
    assert document["repetitions_needed"] == 6
    assert (document["runs"], document["runs_there"], document["at_once"]) == (50, 30, 1)
    assert document["axes"] == swept.axes
    assert document["left_s"] == pytest.approx(20 * document["run_s"])
    done = mptcplab("sweep", more, "--dry-run", "--out", swept.directory)
    assert f"30 are already done in {swept.directory}" in done.stdout
    assert "20 runs left" in done.stdout
    assert "the mean of 30 runs already done" in done.stdout


def test_again_costs_nothing_and_changes_nothing(swept: Campaign, campaign_file: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in swept.directory.rglob("*.parquet")}
    messages: list[object] = []
    again = package.sweep(campaign_file, out=swept.directory, progress=messages.append)
    assert messages == []
    after = {path: path.stat().st_mtime_ns for path in swept.directory.rglob("*.parquet")}
    plan_file = swept.directory / "plan.parquet"
    assert before.keys() == after.keys()
    assert all(after[path] == before[path] for path in before if path != plan_file)
    assert_same(again, swept)


def test_more_repetitions_add_only_their_runs(
    campaign_file: Path, swept: Campaign, tmp_path: Path
) -> None:
    few = package.sweep(written(tmp_path / "c", repetitions=1), out=tmp_path / "out", jobs=1)
    assert few.runs.height == 10
    counts: list[tuple[int, int]] = []
    more = package.sweep(
        written(tmp_path / "c"),
        out=tmp_path / "out",
        jobs=1,
        progress=lambda progress: counts.append((progress.there, progress.total)),
    )
    assert set(counts) == {(10, 30)}
    assert_same(more, swept)


def test_neighbours_are_told_beside_what_was_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    definition = {
        "schema": 1,
        "scenario": "shared-bottleneck",
        "repetitions": 2,
        "baselines": False,
        "set": {"transfer.duration": "5 s"},
        "axis": {"controller": {"key": "mptcp.congestion_control", "values": ["lia", "reno"]}},
    }
    swept = package.sweep(definition, out=tmp_path / "out", jobs=1)
    there = swept.neighbours
    assert there.height == swept.runs.height == 4
    assert set(there["name"]) == {"neighbour"}
    for name, moved, seconds, mbps in there.drop("run").iter_rows():
        assert (name, mbps) == ("neighbour", pytest.approx(moved * 8e-6 / seconds))
    # Together they have no more than the bottleneck.
    rows = overview.configurations(swept)
    for row in rows:
        own = row["runs"]["mptcp"]
        beside = own["neighbours"]["neighbour"]["throughput_mbps"]
        assert beside["n"] == 2
        assert 15 < own["throughput_mbps"]["mean"] + beside["mean"] < 20
    # Uncoupled, MPTCP leaves less (RFC 6356 §2).
    lia, reno = (row["runs"]["mptcp"]["neighbours"]["neighbour"] for row in rows)
    assert reno["throughput_mbps"]["mean"] < lia["throughput_mbps"]["mean"]
    print_campaign(swept)
    assert "neighbour Mbit/s" in capsys.readouterr().out


def test_shares_are_of_the_connection_that_has_the_paths(tmp_path: Path) -> None:
    """A proxy splits connections: one has the paths, the other what was received."""
    for direction in ("download", "upload"):
        definition = {
            "schema": 1,
            "scenario": "proxy",
            "repetitions": 1,
            "baselines": False,
            "set": {"transfer.size": "300 kB", "transfer.direction": direction},
        }
        swept = package.sweep(definition, out=tmp_path / direction, jobs=1)
        assert swept.table("connections").collect().height == 2
        assert groups.shares(swept).rows() == [(swept.runs["run"][0], "lte", 1.0)]


@pytest.mark.parametrize("name", ["failure", "of", "best_mbps"])
def test_an_axis_may_have_any_name(name: str, tmp_path: Path, mptcplab: Run) -> None:
    given = CAMPAIGN.replace("axis.controller", f"axis.{name}")
    file = written(tmp_path, given, repetitions=1)
    arguments = ("--out", tmp_path / "out", "--jobs", "1", "--json")
    swept = mptcplab("sweep", file, *arguments)
    assert swept.returncode == 0, swept.stderr
    found = [one["axes"][name] for one in json.loads(swept.stdout)["configurations"]]
    assert found == ["lia", "olia", "cubic"] * 2


def test_a_campaign_as_a_dictionary_lives_as_long_as_it_is_held() -> None:
    scenario = {
        "schema": 1,
        "transfer": {"direction": "upload", "size": "20 kB"},
        "path": {"wifi": {"rate": "10 Mbit/s", "delay": "5 ms"}},
    }
    given = {"schema": 1, "scenario": scenario, "repetitions": 2}
    campaign = package.sweep(given, jobs=1)
    assert campaign.runs["kind"].to_list() == ["mptcp", "tcp"] * 2
    assert campaign.axes == {}
    assert scenario["transfer"] == {"direction": "upload", "size": "20 kB"}
    directory = campaign.directory
    assert directory.exists()
    del campaign
    assert not directory.exists()


def test_run_directories_are_kept_if_asked_for(tmp_path: Path, swept: Campaign) -> None:
    given = CAMPAIGN.replace("{repetitions}", '1\nkeep = "captures"')
    kept = package.sweep(written(tmp_path, given), out=tmp_path / "out", jobs=2)
    first = swept.runs.filter(repetition=1)
    assert kept.runs["throughput_mbps"].to_list() == first["throughput_mbps"].to_list()
    for row in kept.runs.iter_rows(named=True):
        run = kept.run(row["run"])
        assert run.throughput_mbps == row["throughput_mbps"]
        assert (run.directory / "client.pcapng").exists()
        assert run.rtt.height


def test_there_must_be_a_campaign_to_open(tmp_path: Path, swept: Campaign) -> None:
    with pytest.raises(Error, match="holds no campaign"):
        package.open_campaign(tmp_path)
    with pytest.raises(Error, match="has no run 0000"):
        swept.scenario("0000")
    with pytest.raises(Error, match="has no table events"):
        swept.table("events")


@pytest.mark.parametrize("name", library.names("campaigns"))
def test_those_that_ship_can_be_run(name: str) -> None:
    matrix = Matrix(definition.load(name))
    assert len(matrix.configurations) > 1
    assert matrix.definition.campaign.title
