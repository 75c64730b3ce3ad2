"""Every scenario that ships does what it is there to show."""

from __future__ import annotations

import polars as pl
import pytest

import mptcplab
from mptcplab.results.comparison import Comparison
from mptcplab.scenario import library


@pytest.fixture(scope="module", params=library.names("scenarios"))
def compared(request: pytest.FixtureRequest) -> Comparison:
    return mptcplab.run(request.param)


def test_all_runs_finish_and_paths_add_up(compared: Comparison) -> None:
    runs = [compared.mptcp, *compared.baselines.values()]
    assert all(run.outcome["finished"] for run in runs), [run.outcome for run in runs]
    best = max(run.throughput_mbps or 0 for run in compared.baselines.values())
    total = sum(run.throughput_mbps or 0 for run in compared.baselines.values())
    own = compared.mptcp.throughput_mbps
    assert own is not None
    # No worse than a tenth below the best path alone, no better than all paths together; where a
    # path is lost on the way plain TCP on it loses more than MPTCP does.
    assert 0.9 * best < own < 1.25 * total


def test_both_paths_carry_something(compared: Comparison) -> None:
    run = compared.mptcp
    assert run.transfer is not None
    shares = run.flows.filter(direction=run.transfer["direction"])["share"].drop_nulls()
    assert shares.sum() == pytest.approx(1)
    assert (shares > 0.02).all()


def test_a_longer_round_trip_is_seen_over_lte() -> None:
    run = mptcplab.run("wifi-lte", baselines=False).mptcp
    flows = run.flows.filter(direction="down").join(
        run.subflows.select("connection", "subflow", "path"), on=["connection", "subflow"]
    )
    wifi, lte = (flows.filter(path=path).row(0, named=True) for path in ("wifi", "lte"))
    assert wifi["rtt_ms_min"] < lte["rtt_ms_min"]
    assert wifi["rtt_ms_mean"] < lte["rtt_ms_mean"]


def test_what_a_lost_path_had_comes_over_the_other() -> None:
    run = mptcplab.run("path-lost", baselines=False).mptcp
    assert run.transfer is not None
    assert run.transfer["reinjected_bytes"] > 0
    drops = run.drops.filter(reason="blackout")
    assert drops.height
    assert all(10 - 0.1 <= at <= 20 + 0.1 for at in drops["at_s"])
    joined = run.throughput.join(
        run.subflows.select("connection", "subflow", "path"), on=["connection", "subflow"]
    ).filter(pl.col("direction") == "down")
    wifi = {
        round(row["at_s"]): row["bytes"] for row in joined.filter(path="wifi").iter_rows(named=True)
    }
    assert not any(wifi.get(second) for second in range(12, 19))
    assert any(wifi.get(second) for second in range(2, 9))
    # Found again within the longest back-off.
    assert any(wifi.get(second) for second in range(21, 38))
