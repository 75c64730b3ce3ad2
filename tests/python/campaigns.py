"""Small campaigns, and how two of them are held beside each other."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from polars.testing import assert_frame_equal

from mptcplab.results.campaign import Campaign

SCENARIO = """\
schema = 1

[transfer]
direction = "download"
size = "60 kB"

[path.wifi]
rate = "10 Mbit/s"
delay = "5 ms"
loss = "1 %"
queue = "50 kB"

[path.lte]
rate = "8 Mbit/s"
delay = "20 ms"
loss = "0.5 %"
"""

CAMPAIGN = """\
schema = 1
title = "something small"
scenario = "small.toml"
repetitions = {repetitions}

[axis.size]
key = "transfer.size"
values = ["20 kB", "60 kB"]

[axis.controller]
key = "mptcp.congestion_control"
values = ["lia", "olia", "cubic"]

[set]
"tcp.congestion_control" = "reno"
"""

TABLES = ("connections", "transfers", "subflows", "flows", "diagnostics")


def written(directory: Path, text: str = CAMPAIGN, *, repetitions: int = 3) -> Path:
    """Write a campaign and its scenario."""
    directory.mkdir(exist_ok=True)
    (directory / "small.toml").write_text(SCENARIO)
    file = directory / "campaign.toml"
    file.write_text(text.replace("{repetitions}", str(repetitions)))
    return file


def assert_same(one: Campaign, other: Campaign) -> None:
    """Hold all runs and tables of two campaigns to be the same."""
    assert_frame_equal(one.plan, other.plan)
    assert_frame_equal(one.runs, other.runs)
    for name in TABLES:
        assert_frame_equal(table(one, name), table(other, name))


def table(campaign: Campaign, name: str) -> pl.DataFrame:
    """Give a table, the runs in an order of their own."""
    return campaign.table(name).collect().sort("run", maintain_order=True)
