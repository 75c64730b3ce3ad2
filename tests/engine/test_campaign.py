"""Campaigns with this machine's kernel."""

from __future__ import annotations

import json

import polars as pl

from engine.machines import Machine
from engine.test_runs import TWO_PATHS
from mptcplab import open_campaign

CAMPAIGN = """\
schema = 1
scenario = "scenario.toml"
engine = "kernel"
repetitions = 1
limit = "60 s"
keep = "{keep}"

[axis.size]
key = "transfer.size"
values = ["100 kB", "300 kB"]
"""


def test_a_campaign_in_real_time(machine: Machine) -> None:
    machine.write(TWO_PATHS)
    file = machine.write(CAMPAIGN.format(keep="runs"), "campaign")
    out = machine.directory / "out"
    done = machine.run("sweep", file, "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"] == {"planned": 6, "done": 6, "failed": 0}
    campaign = open_campaign(out)
    assert campaign.runs["finished"].all()
    sizes = campaign.runs.select(
        pl.col("size").replace_strict({"100 kB": 10**5, "300 kB": 3 * 10**5})
    )
    assert campaign.runs["bytes"].to_list() == sizes["size"].to_list()
    for row in campaign.runs.iter_rows(named=True):
        run = campaign.run(row["run"])
        assert run.about["engine"] == "kernel"
        assert run.throughput_mbps == row["throughput_mbps"]
        assert run.loss_rate_percent == row["loss_rate_percent"]
    again = machine.run("sweep", file, "--out", out)
    assert again.stderr == f"{out}: 6 runs, all there\n"


def test_nothing_but_tables_stays_unless_asked_for(host: Machine) -> None:
    host.write(TWO_PATHS)
    file = host.write(CAMPAIGN.format(keep="tables"), "campaign")
    out = host.directory / "out"
    done = host.run("sweep", file, "--out", out)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in out.iterdir()} == {
        "campaign.json",
        "failures.json",
        "plan.parquet",
        "report.html",
        "scenarios",
        "shards",
    }
    assert open_campaign(out).table("flows").collect()["run"].n_unique() == 6


def test_what_the_kernel_lacks_is_refused_before_anything_runs(host: Machine) -> None:
    host.write(TWO_PATHS)
    text = CAMPAIGN.format(keep="tables").replace("transfer.size", "kernel.congestion_control")
    file = host.write(text.replace("100 kB", "reno").replace("300 kB", "lia"), "campaign")
    done = host.run("sweep", file, "--out", host.directory / "out")
    assert done.returncode == 2
    assert "campaign: size lia, [kernel] congestion_control: this kernel has no lia" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (host.directory / "out").exists()
