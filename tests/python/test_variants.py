"""Variants of MPTCP, run from a scenario and measured by the analysis like any other."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import mptcplab
from mptcplab.results.run import Run

SCENARIO: dict[str, Any] = {
    "schema": 1,
    "transfer": {"direction": "download", "size": "2 MB"},
    "path": {
        "wifi": {"rate": "20 Mbit/s", "delay": "10 ms", "queue": "60 kB"},
        "lte": {"rate": "10 Mbit/s", "delay": "25 ms", "queue": "60 kB"},
    },
}


def run(size: str = "2 MB", **mptcp: Any) -> Run:
    transfer = {"direction": "download", "size": size}
    scenario = SCENARIO | {"transfer": transfer, "mptcp": mptcp}
    return mptcplab.run(scenario, baselines=False).mptcp


def test_an_early_join_belongs_to_its_connection() -> None:
    specified, early = run(), run(join="simultaneous")
    assert early.connections.height == 1
    assert early.subflows["path"].to_list() == ["wifi", "lte"]
    assert early.subflows["opened_by"].to_list() == specified.subflows["opened_by"].to_list()
    joined = early.events.filter(event="join_established")
    assert joined.height == specified.events.filter(event="join_established").height
    assert early.diagnostics.height == specified.diagnostics.height


def test_a_scheduler_takes_its_parameters() -> None:
    waits = {"scheduler": "round-robin", "scheduler_parameters": {"cwnd_limited": False}}
    shares = run("20 MB", **waits).flows.filter(direction="down")["share"]
    assert shares.min() == pytest.approx(0.5, abs=0.02)
    with pytest.raises(mptcplab.Error, match="quota"):
        run(scheduler="round-robin", scheduler_parameters={"quotas": 1})


def test_offload_leaves_lte_alone_where_wifi_makes_it() -> None:
    def bytes_over_lte(tolerance: str) -> int:
        parameters = {"size": "20 MB", "tolerance": tolerance}
        scenario = SCENARIO | {
            "transfer": {"direction": "download", "size": "20 MB"},
            "path": SCENARIO["path"] | {"lte": SCENARIO["path"]["lte"] | {"backup": True}},
            "mptcp": {"path_manager": "offload", "path_manager_parameters": parameters},
        }
        flows = mptcplab.run(scenario, baselines=False).mptcp.flows.filter(direction="down")
        return int(flows.filter(pl.col("subflow") > 0)["bytes"].sum())

    # 20 MB take 8.4 s over Wi-Fi.
    assert bytes_over_lte("15 s") == 0
    assert bytes_over_lte("6 s") > 2_000_000
