"""Campaigns on the disk: what is damaged, old or too new."""

from __future__ import annotations

import importlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import mptcplab as package
from campaigns import assert_same
from command import Run
from mptcplab import Error
from mptcplab.results.campaign import Campaign


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


def test_the_campaign_that_benchmarks_open_is_a_whole_one(tmp_path: Path, swept: Campaign) -> None:
    benchmark = importlib.import_module("benchmarks.campaign")
    benchmark.enlarge(swept, tmp_path / "large")
    large = package.open_campaign(tmp_path / "large")
    assert large.runs.height == benchmark.COPIES * swept.runs.height
    assert large.runs["run"].is_unique().all()
    assert large.plan["pair"].n_unique() == benchmark.COPIES * swept.plan["pair"].n_unique()


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
    broken: str, command: str, tmp_path: Path, swept: Campaign, campaign_file: Path, mptcplab: Run
) -> None:
    out = tmp_path / "out"
    shutil.copytree(swept.directory, out)
    (out / broken).write_bytes(b"\xff")
    arguments = {
        "report": ["report", str(out)],
        "sweep": ["sweep", str(campaign_file), "--out", str(out)],
        "dry run": ["sweep", str(campaign_file), "--out", str(out), "--dry-run"],
    }
    ended = mptcplab(*arguments[command])
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
    campaign_file: Path,
    mptcplab: Run,
) -> None:
    out = tmp_path / "out"
    shutil.copytree(swept.directory, out)
    before = len(list((out / "shards").iterdir()))
    assert before > 1
    damage(out / "shards")
    there = {path.name for path in (out / "shards").iterdir()}
    ended = mptcplab("sweep", campaign_file, "--out", out, "--json")
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert f"remove {out / 'shards' / where}" in ended.stderr or damage is _copy
    assert f"{out / 'shards' / where}" in ended.stderr
    assert {path.name for path in (out / "shards").iterdir()} == there
    with pytest.raises(Error, match=re.escape(f"{out / 'shards' / where}")):
        _ = package.open_campaign(out).runs
    shutil.rmtree(out / "shards" / where)
    assert_same(package.sweep(campaign_file, out=out, jobs=2), swept)


@pytest.mark.parametrize("about", ['{"axes": {}}', '{"axes": 3}', "[]"])
def test_what_does_not_describe_a_campaign_is_none(about: str, tmp_path: Path) -> None:
    (tmp_path / "campaign.json").write_text(about)
    with pytest.raises(Error, match="holds no campaign"):
        package.open_campaign(tmp_path)


def test_what_a_newer_version_wrote_is_refused(
    tmp_path: Path, campaign_file: Path, swept: Campaign, mptcplab: Run
) -> None:
    newer = tmp_path / "newer"
    newer.mkdir()
    about = newer / "campaign.json"
    about.write_text(json.dumps(swept.about | {"schema": 99}))
    for arguments in (["report", newer], ["sweep", campaign_file, "--out", newer]):
        before = about.read_bytes()
        ended = mptcplab(*arguments)
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
