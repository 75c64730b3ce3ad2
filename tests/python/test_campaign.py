"""Campaigns: what they say, which runs that makes, and what is read back of them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import statistics
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import mptcplab as package
from campaigns import CAMPAIGN, TABLES, assert_same, table, written
from command import Run
from mptcplab import Error, ScenarioError, _core, metrics
from mptcplab.campaign import sheet
from mptcplab.campaign.matrix import Matrix
from mptcplab.cli.summary.campaign import print_campaign
from mptcplab.labels import text
from mptcplab.results import groups, overview
from mptcplab.results.campaign import Campaign
from mptcplab.results.run import Run as RunDirectory
from mptcplab.scenario import library
from mptcplab.scenario.endpoint import Mptcp
from mptcplab.scenario.plan import plain, plan
from mptcplab.scenario.scenario import load


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("campaign"))


@pytest.fixture(scope="module")
def swept(file: Path) -> Campaign:
    return package.sweep(file, out=file.parent / "out", jobs=2)


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
        words = shlex.split(swept.command(row["run"]))
        assert words.pop(0) == "mptcplab"
        done = mptcplab(*words, "--out", tmp_path / kind, "--no-captures", "--json")
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


def test_the_summary_holds_what_the_runs_say(swept: Campaign, file: Path, mptcplab: Run) -> None:
    done = mptcplab("sweep", file, "--out", swept.directory)
    assert done.returncode == 0
    assert done.stderr == f"{swept.directory}: 30 runs, all there\n"
    assert done.stdout.startswith(
        "campaign · something small · small, simulated · default scheduler · 30 runs\n\n"
        "  size   controller  n"
    )
    few = "3 repetitions are too few to rule out chance: at least 6 are needed for p < 0.05"
    assert f"  ! {few}\n" in done.stdout
    document = json.loads(mptcplab("sweep", file, "--out", swept.directory, "--json").stdout)
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
        for verb, other, words in (("sweep", "run", sweep), ("run", "sweep", run)):
            name = words.split()[0].removesuffix(":")
            done = mptcplab(verb, name, cwd=tmp_path)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr == f"mptcplab: {words}: mptcplab {other} runs it\n"


def test_a_dry_run_counts_and_writes_nothing(
    swept: Campaign, file: Path, mptcplab: Run, tmp_path: Path
) -> None:
    done = mptcplab("sweep", file, "--dry-run", "--out", tmp_path / "out", "--jobs", "1")
    assert done.returncode == 0
    assert "6 configurations × 3 repetitions, and 12 runs of plain TCP beside them: 30 runs" in (
        done.stdout
    )
    few = (
        "3 repetitions are too few to rule out chance: at least 6 are needed for p < 0.05, 8 where"
    )
    assert f"! {few} one of 6 configurations alone differs" in done.stdout
    enough = written(tmp_path / "enough", repetitions=6)
    told = mptcplab("sweep", enough, "--dry-run", "--out", tmp_path / "out").stdout
    assert "rule out chance" not in told
    assert re.search(
        r"for the 30 that are left, 1 at once: .* 30 runs that were tried", done.stdout
    )
    assert not (tmp_path / "out").exists()
    more = written(tmp_path / "more", repetitions=5)
    words = ("sweep", more, "--dry-run", "--jobs", "1", "--out", swept.directory)
    told = json.loads(mptcplab(*words, "--json").stdout)
    assert (told["campaign"], told["configurations"], told["repetitions"]) == ("campaign", 6, 5)
    assert told["repetitions_needed"] == 6
    assert (told["runs"], told["runs_there"], told["at_once"]) == (50, 30, 1)
    assert told["axes"] == swept.axes
    assert told["left_s"] == pytest.approx(20 * told["run_s"])
    done = mptcplab("sweep", more, "--dry-run", "--out", swept.directory)
    assert f"30 are there already in {swept.directory}" in done.stdout
    assert "for the 20 that are left" in done.stdout
    assert "the mean of 30 runs that are there" in done.stdout


def test_again_costs_nothing_and_changes_nothing(swept: Campaign, file: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in swept.directory.rglob("*.parquet")}
    told: list[object] = []
    again = package.sweep(file, out=swept.directory, progress=told.append)
    assert told == []
    after = {path: path.stat().st_mtime_ns for path in swept.directory.rglob("*.parquet")}
    plan_file = swept.directory / "plan.parquet"
    assert before.keys() == after.keys()
    assert all(after[path] == before[path] for path in before if path != plan_file)
    assert_same(again, swept)


def test_more_repetitions_add_only_their_runs(file: Path, swept: Campaign, tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("change", "alike"),
    [
        (('title = "something small"', 'title = "else"'), True),
        (("repetitions = 3", "repetitions = 2"), True),
        (("repetitions = 3", "repetitions = 3\nseed = 100"), False),
        (('"tcp.congestion_control" = "reno"', '"path.wifi.loss" = "2 %"'), False),
        (("[axis.size]", 'tables = ["events"]\n[axis.size]'), False),
    ],
)
def test_keys_are_of_what_is_run(
    swept: Campaign, tmp_path: Path, change: tuple[str, str], alike: bool
) -> None:
    given = CAMPAIGN.replace("{repetitions}", "3")
    assert change[0] in given
    other = Matrix(sheet.load(written(tmp_path, given.replace(*change))))
    keys = {run.task.run for run in other.runs}
    assert keys <= set(swept.plan["run"]) if alike else not keys & set(swept.plan["run"])


def test_the_order_is_by_chance_and_always_the_same(file: Path) -> None:
    matrix = Matrix(sheet.load(file))
    order = [task.run for task in matrix.shuffled()]
    assert order == [task.run for task in Matrix(sheet.load(file)).shuffled()]
    planned = [run.task.run for run in matrix.runs]
    assert order != planned
    assert sorted(order) == sorted(planned)


def test_only_the_build_that_a_run_is_of_has_its_key(
    file: Path, swept: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mptcplab.campaign.matrix.build", lambda: "another")
    keys = {run.task.run for run in Matrix(sheet.load(file)).runs}
    assert not keys & set(swept.plan["run"])


# Of each key of [mptcp] that plain TCP cannot depend on, values that are not usual.
MPTCP_KEYS = {
    "congestion_control": ["reno", "olia"],
    "path_manager": ["single", "linux"],
    "max_subflows": ["1"],
    "max_add_addr_accepted": ["1"],
    "checksum": ["true"],
    "opportunistic_retransmission": ["true", "false"],
    "penalisation": ["true", "false"],
    "long_numbers": ["true"],
    "reinjection": ["subflow-timeout"],
    "stale_timeouts": ["9"],
    "capable_retries": ["7"],
    "close_timeout": ["7 s"],
    "join": ["simultaneous"],
    "version": ["0"],
    "receive_buffer": ["per-subflow"],
}
# What changes plain TCP, too, and parameters, which need their policy.
OTHER_KEYS = {"enabled", "era", "scheduler", "scheduler_parameters"}
PARAMETERS = {
    "congestion_parameters": ("congestion_control=ewtcp", "weight=0.5"),
    "path_manager_parameters": ("path_manager=ndiffports", "subflows=3"),
}


def test_shared_baselines_do_not_depend_on_what_is_shared() -> None:
    assert MPTCP_KEYS.keys() | OTHER_KEYS | PARAMETERS.keys() == set(Mptcp.model_fields)
    # Else plain TCP has what MPTCP has, or Reno where that is coupled.
    fixed = ["transfer.size=2 MB", "tcp.congestion_control=reno"]
    _, usual = load("wifi-lte", fixed)
    there = _core.simulate(plan(usual, 3, "wifi"), samples=False).json()
    for key, values in MPTCP_KEYS.items():
        for value in values:
            _, changed = load("wifi-lte", [*fixed, f"mptcp.{key}={value}"])
            assert plain(changed, linux=False) == plain(usual, linux=False), key
            assert _core.simulate(plan(changed, 3, "wifi"), samples=False).json() == there, key


@pytest.mark.parametrize("key", PARAMETERS)
def test_shared_baselines_do_not_depend_on_parameters(key: str) -> None:
    policy, parameter = PARAMETERS[key]
    settings = ["transfer.size=2 MB", f"mptcp.{policy}"]
    _, usual = load("wifi-lte", settings)
    _, changed = load("wifi-lte", [*settings, f"mptcp.{key}.{parameter}"])
    assert plain(changed, linux=False) == plain(usual, linux=False)
    ours, theirs = (_core.simulate(plan(one, 3, "wifi"), samples=False) for one in (changed, usual))
    assert ours.json() == theirs.json()


def test_plain_tcp_of_the_kernel_takes_what_mptcp_takes() -> None:
    """Where ``[tcp]`` names nothing, as the reference says of ``[kernel]``."""
    taken = ["mptcp.congestion_control=reno"]
    named = [*taken, "tcp.congestion_control=cubic"]
    for settings, shared in ((taken, False), (named, True)):
        _, changed = load("wifi-lte", settings)
        _, usual = load("wifi-lte", [one.replace("reno", "cubic") for one in settings])
        assert (plain(changed, linux=True) == plain(usual, linux=True)) is shared


def test_baselines_that_differ_are_not_shared(tmp_path: Path) -> None:
    given = CAMPAIGN.replace('"tcp.congestion_control" = "reno"', "").replace("{repetitions}", "1")
    runs = Matrix(sheet.load(written(tmp_path, given))).runs
    cubic = [run for run in runs if run.labels["controller"] == "cubic"]
    # Over one path LIA and OLIA are Reno; CUBIC is not.
    assert [run.task.subject.path for run in cubic] == [None, "wifi", "lte"] * 2
    shared = [run for run in runs if run.labels["controller"] is None]
    assert [run.task.subject.path for run in shared] == ["wifi", "lte"] * 2


MIXED = """\
schema = 1
scenario = "small.toml"
repetitions = 2

[axis.what.points.small-lia]
"transfer.size" = "20 kB"
"mptcp.congestion_control" = "lia"

[axis.what.points.small-olia]
"transfer.size" = "20 kB"
"mptcp.congestion_control" = "olia"

[axis.what.points.large-lia]
"transfer.size" = "60 kB"
"mptcp.congestion_control" = "lia"

[axis.what.points.large-olia]
"transfer.size" = "60 kB"
"mptcp.congestion_control" = "olia"
"""


def test_plain_tcp_is_shared_only_where_axes_say_by_what(tmp_path: Path) -> None:
    campaign = package.sweep(written(tmp_path, MIXED), out=tmp_path / "out", jobs=1)
    assert campaign.runs["run"].is_unique().all()
    own = groups.groups(campaign, ["what"], campaign.runs.filter(path="wifi"))
    assert [(one.axes["what"], sorted(set(one.runs["bytes"]))) for one in own] == [
        ("small-lia", [20_000]),
        ("small-olia", [20_000]),
        ("large-lia", [60_000]),
        ("large-olia", [60_000]),
    ]
    first, second, *_ = (one.runs.drop("run", "what", "configuration", "pair") for one in own)
    assert_frame_equal(first, second)


def test_neighbours_are_told_beside_what_was_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = {
        "schema": 1,
        "scenario": "shared-bottleneck",
        "repetitions": 2,
        "baselines": False,
        "set": {"transfer.duration": "5 s"},
        "axis": {"controller": {"key": "mptcp.congestion_control", "values": ["lia", "reno"]}},
    }
    swept = package.sweep(sheet, out=tmp_path / "out", jobs=1)
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
        sheet = {
            "schema": 1,
            "scenario": "proxy",
            "repetitions": 1,
            "baselines": False,
            "set": {"transfer.size": "300 kB", "transfer.direction": direction},
        }
        swept = package.sweep(sheet, out=tmp_path / direction, jobs=1)
        assert swept.table("connections").collect().height == 2
        assert groups.shares(swept).rows() == [(swept.runs["run"][0], "lte", 1.0)]


@pytest.mark.parametrize("name", ["failure", "of", "best_mbps"])
def test_an_axis_may_have_any_name(name: str, tmp_path: Path, mptcplab: Run) -> None:
    given = CAMPAIGN.replace("axis.controller", f"axis.{name}")
    file = written(tmp_path, given, repetitions=1)
    swept = mptcplab("sweep", str(file), "--out", str(tmp_path / "out"), "--json")
    assert swept.returncode == 0, swept.stderr
    found = [one["axes"][name] for one in json.loads(swept.stdout)["configurations"]]
    assert found == ["lia", "olia", "cubic"] * 2


def test_shards_of_a_version_that_knew_fewer_columns_are_read(
    tmp_path: Path, swept: Campaign
) -> None:
    out = tmp_path / "out"
    shutil.copytree(swept.directory, out)
    first = out / "shards" / "0-0"
    (first / "sums.json").unlink()
    for name, column in (("runs", "longest_gap_ms"), ("flows", "data_packets")):
        file = first / f"{name}.parquet"
        pl.read_parquet(file).drop(column).write_parquet(file)
    campaign = package.open_campaign(out)
    lost = pl.read_parquet(first / "runs.parquet")["run"]
    for run in campaign.runs.iter_rows(named=True):
        assert (run["longest_gap_ms"] is None) == (run["run"] in lost)
    known = campaign.table("flows").collect()
    assert set(known.filter(pl.col("data_packets").is_null())["run"]) == set(lost)


@pytest.mark.parametrize(
    ("broken", "command"),
    [
        ("failures.json", "report"),
        ("scenarios/0.toml", "report"),
        ("shards/0-0/runs.parquet", "report"),
        ("shards/0-0/costs.parquet", "sweep"),
        ("shards/0-0/costs.parquet", "dry run"),
    ],
)
def test_what_is_broken_is_told_in_a_line(
    broken: str, command: str, tmp_path: Path, swept: Campaign, file: Path, mptcplab: Run
) -> None:
    out = tmp_path / "out"
    shutil.copytree(swept.directory, out)
    (out / broken).write_bytes(b"\xff")
    words = {
        "report": ["report", str(out)],
        "sweep": ["sweep", str(file), "--out", str(out)],
        "dry run": ["sweep", str(file), "--out", str(out), "--dry-run"],
    }
    ended = mptcplab(*words[command])
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    what = "cannot be read" if broken.startswith("shards") else "is damaged"
    assert f"{out / broken} {what}" in ended.stderr


def _lose(shards: Path) -> None:
    (shards / "0-0" / "runs.parquet").unlink()


def _lose_beside(shards: Path) -> None:
    (shards / "0-0" / "flows.parquet").unlink()


def _flip(shards: Path) -> None:
    file = shards / "0-0" / "runs.parquet"
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 4
    file.write_bytes(content)


def _cut(shards: Path) -> None:
    file = shards / "0-0" / "transfers.parquet"
    file.write_bytes(file.read_bytes()[:-20])


def _lose_without_sums(shards: Path) -> None:
    (shards / "0-0" / "sums.json").unlink()
    _lose(shards)


def _mix_without_sums(shards: Path) -> None:
    (shards / "0-0" / "sums.json").unlink()
    pl.read_parquet(shards / "0-0" / "runs.parquet").head(0).write_parquet(
        shards / "0-0" / "runs.parquet"
    )


def _lay_over(shards: Path) -> None:
    (shards / "0-999").mkdir()


def _copy(shards: Path) -> None:
    shutil.copytree(shards / "0-0", shards / "2000-2000")


def _copy_over(shards: Path) -> None:
    shutil.copytree(shards / "0-0", shards / "0-999")


@pytest.mark.parametrize(
    ("damage", "where"),
    [
        (_lose, "0-0"),
        (_lose_beside, "0-0"),
        (_flip, "0-0"),
        (_cut, "0-0"),
        (_lose_without_sums, "0-0"),
        (_mix_without_sums, "0-0"),
        (_lay_over, "0-999"),
        (_copy, "2000-2000"),
        (_copy_over, "0-999"),
    ],
)
def test_a_damaged_shard_is_refused_and_said_how_to_mend(
    damage: Callable[[Path], None],
    where: str,
    tmp_path: Path,
    swept: Campaign,
    file: Path,
    mptcplab: Run,
) -> None:
    out = tmp_path / "out"
    shutil.copytree(swept.directory, out)
    before = len(list((out / "shards").iterdir()))
    assert before > 1
    damage(out / "shards")
    there = {path.name for path in (out / "shards").iterdir()}
    ended = mptcplab("sweep", file, "--out", out, "--json")
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert f"remove {out / 'shards' / where}" in ended.stderr or damage is _copy
    assert f"{out / 'shards' / where}" in ended.stderr
    assert {path.name for path in (out / "shards").iterdir()} == there
    with pytest.raises(Error, match=re.escape(f"{out / 'shards' / where}")):
        _ = package.open_campaign(out).runs
    shutil.rmtree(out / "shards" / where)
    assert_same(package.sweep(file, out=out, jobs=2), swept)


@pytest.mark.parametrize("about", ['{"axes": {}}', '{"axes": 3}', "[]"])
def test_what_does_not_describe_a_campaign_is_none(about: str, tmp_path: Path) -> None:
    (tmp_path / "campaign.json").write_text(about)
    with pytest.raises(Error, match="holds no campaign"):
        package.open_campaign(tmp_path)


def test_what_a_newer_version_wrote_is_refused(
    tmp_path: Path, file: Path, swept: Campaign, mptcplab: Run
) -> None:
    newer = tmp_path / "newer"
    newer.mkdir()
    about = newer / "campaign.json"
    about.write_text(json.dumps(swept.about | {"schema": 99}))
    for words in (["report", newer], ["sweep", file, "--out", newer]):
        before = about.read_bytes()
        ended = mptcplab(*words)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert ended.stderr == (
            f"mptcplab: {about} was written by a newer mptcplab: schema 99, this one reads 1\n"
        )
        assert about.read_bytes() == before
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text('{"schema": 99}')
    with pytest.raises(Error, match=r"run\.json was written by a newer mptcplab: schema 99"):
        package.open_run(run)


def test_points_set_several_keys_and_choices_leave_some_out(tmp_path: Path) -> None:
    given = """\
schema = 1
scenario = "small.toml"
repetitions = 1
baselines = false

[axis.place.points.home]
"path.wifi.rate" = "50 Mbit/s"
"path.lte.delay" = "40 ms"

[axis.place.points.street]
"path.wifi.queue" = { queue = "codel" }

[axis.addresses]
key = "server.addresses"
values = [1, 2]

[[exclude]]
place = "street"
addresses = 2
"""
    campaign = package.sweep(written(tmp_path, given), out=tmp_path / "out", jobs=1)
    found = campaign.runs.select("place", "addresses").rows()
    assert found == [("home", 1), ("home", 2), ("street", 1)]
    assert campaign.runs.schema["addresses"] == pl.Int64
    home, _, street = (campaign.scenario(run) for run in campaign.runs["run"])
    assert 'rate = "50 Mbit/s"' in home
    assert "codel" not in home
    assert "codel" in street
    only = given.replace("[[exclude]]", "[[only]]")
    runs = Matrix(sheet.load(written(tmp_path, only))).runs
    assert [run.labels for run in runs] == [{"place": "street", "addresses": 2}]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            ("repetitions = ", "repetition = "),
            "campaign.toml:4: repetition: there is no such key; did",
        ),
        (('"small.toml"', '"smal.toml"'), "campaign.toml:3: scenario: there is no file "),
        (('"small.toml"', '"wifi-ltee"'), "did you mean wifi-lte?"),
        (("schema = 1", "schema = 2"), "campaign.toml:1: schema: 2 is not known"),
        (("schema = 1\n", ""), "campaign.toml: needs schema = 1"),
        (("{repetitions}", "0"), "campaign.toml:4: repetitions: must be at least 1"),
        (("{repetitions}", "3\nseed = -1"), "campaign.toml:5: seed: must be at least 0"),
        (("{repetitions}", '3\nengine = "ns3"'), "campaign.toml:5: engine: "),
        (("{repetitions}", '3\ntables = ["event"]'), "campaign.toml:5: tables.0: "),
        (
            ("transfer.size", "transfer.sise"),
            "campaign.toml:7: transfer.sise: there is no such key",
        ),
        (("transfer.size", "trnsfer.size"), "campaign.toml:7: trnsfer: there is no such section"),
        (("transfer.size", "path.wfi.rate"), "campaign.toml:7: there is no path wfi; did you mean"),
        (('"60 kB"', '"60 kg"'), "campaign.toml:8: transfer.size: "),
        (('"60 kB"', '"20 kB"'), 'campaign.toml:8: axis.size.values.1: "20 kB" is there twice'),
        (('"60 kB"', "7"), "campaign.toml:8: axis.size.values: mixes text"),
        (('"20 kB", "60 kB"', ""), "campaign.toml:6: axis.size: has no values"),
        (("values = [", "valus = ["), "campaign.toml:8: axis.size.valus: there is no such key"),
        (("axis.size", "axis.seed"), "cannot name an axis: a column of runs has it"),
        (("axis.size", "axis.Size"), "cannot name an axis"),
        (('"olia"', '"olias"'), "campaign.toml:12: mptcp.congestion_control: there is no"),
        (('key = "mptcp.congestion_control"', 'key = "transfer.size"'), "varies with size already"),
        (
            ('"tcp.congestion_control" = ', "tcp.congestion_control = "),
            "campaign.toml:15: set.tcp: write the whole key in quotation marks",
        ),
        (("[set]", '[[only]]\nsiz = "20 kB"\n[set]'), "only.0.siz: there is no such axis; did"),
        (("[set]", '[[only]]\nsize = "20kB"\n[set]'), "is none of its values; did you mean 20 kB"),
        (("[set]", '[[exclude]]\nsize = ["20 kB", "60 kB"]\n[set]'), "leave nothing to run"),
    ],
)
def test_what_cannot_be_is_told_with_its_line(
    tmp_path: Path, mptcplab: Run, change: tuple[str, str], complaint: str
) -> None:
    assert change[0] in CAMPAIGN
    written(tmp_path, CAMPAIGN.replace(*change))
    with pytest.raises(ScenarioError) as error:
        package.sweep(tmp_path / "campaign.toml", out=tmp_path / "out")
    assert "\n" not in str(error.value)
    # Columns have a test of their own.
    assert complaint in re.sub(r"(toml:\d+):\d+: ", r"\1: ", str(error.value))
    assert not (tmp_path / "out").exists()


def test_a_campaign_of_too_many_runs_is_refused(tmp_path: Path, mptcplab: Run) -> None:
    file = written(tmp_path / "files", repetitions=1_000_000)
    ended = mptcplab("sweep", file, "--out", tmp_path / "out", "--dry-run")
    assert (ended.returncode, ended.stdout) == (2, "")
    # Six with MPTCP, and plain TCP over two paths for each of two sizes.
    assert ended.stderr == (
        "mptcplab: campaign: 10 runs for each seed × 1000000 repetitions are 10000000 runs, more "
        "than 1000000: take fewer repetitions or values\n"
    )
    assert not (tmp_path / "out").exists()


def test_two_configurations_cannot_be_one_scenario(tmp_path: Path) -> None:
    given = CAMPAIGN.replace('"20 kB", "60 kB"', '"60 kB", "60000 B"')
    with pytest.raises(ScenarioError, match="60 kB lia and 60000 B lia are the same scenario"):
        package.sweep(written(tmp_path, given))


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
    place = campaign.directory
    assert place.exists()
    del campaign
    assert not place.exists()


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
    matrix = Matrix(sheet.load(name))
    assert len(matrix.configurations) > 1
    assert matrix.sheet.campaign.title
