"""Runs that begin with what earlier transfers left: slow-start thresholds of destinations."""

from __future__ import annotations

import tomllib
from typing import Any

import polars as pl
import pytest

import mptcplab
from mptcplab import ScenarioError
from mptcplab.scenario.scenario import load
from thresholds import QUEUES, SCENARIO, left

# Of what nothing is drawn, so that all transfers are the same.
SETTINGS = {"run.processing": "0 s"}


def windows(queue: str, **settings: object) -> list[tuple[float, float | None]]:
    """Window and threshold of the server in each sample, in packets."""
    scenario = tomllib.loads(SCENARIO.format(queue=QUEUES[queue]))
    given = SETTINGS | {key.replace("__", "."): value for key, value in settings.items()}
    rows = mptcplab.run(scenario, settings=given).mptcp.state.filter(host="server")
    return [row for row in rows.select("cwnd_packets", "ssthresh_packets").rows() if row[0]]


@pytest.mark.parametrize("queue", QUEUES)
def test_a_run_begins_with_what_the_one_before_it_left(queue: str) -> None:
    alone = windows(queue)
    assert alone[0][1] is None
    expected = left(*alone[-1])
    assert (expected is None) == (queue == "never fills")
    after = windows(queue, run__earlier_transfers=1)
    assert after[0][1] == expected
    # Each begins with what the one before it left.
    assert windows(queue, run__earlier_transfers=2)[0][1] == left(*after[-1])


def test_nothing_is_left_where_nothing_is_cached() -> None:
    assert windows("overflows", run__earlier_transfers=1, tcp__ssthresh_cache=False) == windows(
        "overflows", tcp__ssthresh_cache=False
    )


def test_it_is_said_where_earlier_transfers_change_nothing() -> None:
    given = {"run.earlier_transfers": 1}
    _, scenario = load("wifi-lte", settings=given | {"tcp.ssthresh_cache": False})
    (remark,) = scenario.remarks
    assert remark.partition(": ")[2].startswith("run.earlier_transfers changes nothing: ")
    for effective in (given | {"tcp.ssthresh_cache": True}, {"tcp.ssthresh_cache": False}):
        assert not load("wifi-lte", settings=effective)[1].remarks


def test_each_destination_has_its_own() -> None:
    scenario: dict[str, Any] = {
        "schema": 1,
        "transfer": {"direction": "download", "size": "2 MB"},
        "path": {
            "wifi": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": "15 kB"},
            "lte": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": "60 kB"},
        },
        "tcp": {"ssthresh_cache": True},
        "run": {"baselines": False, "earlier_transfers": 1, "sample": "1 ms"},
    }
    run = mptcplab.run(scenario).mptcp
    state = run.state.filter(pl.col("cwnd_packets").is_not_null(), host="server").sort("at_ns")
    first = state.group_by("subflow", maintain_order=True).first()
    first = first.join(run.subflows.select("subflow", "path"), on="subflow")
    begun = dict(first.select("path", "ssthresh_packets").rows())
    assert begun["wifi"] < begun["lte"], begun


def test_real_time_has_none() -> None:
    with pytest.raises(ScenarioError, match=r"--set run.earlier_transfers=0$") as refused:
        mptcplab.run("wifi-lte", engine="kernel", settings={"run.earlier_transfers": 1})
    assert str(refused.value).startswith("[run] earlier_transfers: the kernel engine has none")
    # What it says helps.
    load("wifi-lte", settings={"run.earlier_transfers": 0})
