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
    alone = {path: run.throughput_mbps or 0 for path, run in compared.baselines.items()}
    best = max(alone.values())
    # Subflows that are not coupled are as many TCPs.
    is_reno = compared.mptcp.scenario["mptcp"]["congestion_control"] == "reno"
    flows = compared.mptcp.subflows["path"] if is_reno else alone
    total = sum(alone[path] for path in flows)
    own = compared.mptcp.throughput_mbps
    assert own is not None
    # No worse than a tenth below the best path alone, no better than all paths together; where a
    # path is lost on the way plain TCP on it loses more than MPTCP does.
    assert own < 1.25 * total
    if compared.mptcp.scenario["mptcp"]["path_manager"] == "maps":
        # Of three paths it uses one at a time: more than who stays on the first.
        assert own > alone[next(iter(alone))]
    elif own < 0.9 * best:
        # The end of a download waits for a burst of the scheduler, 64 KiB, over the slower path.
        size_bytes = (compared.mptcp.transfer or {})["bytes"]
        assert "size" in compared.mptcp.scenario["transfer"]
        assert 8e-6 * size_bytes / own < 8e-6 * (size_bytes / best + 65_536 / min(alone.values()))


def test_both_paths_carry_something(compared: Comparison) -> None:
    run = compared.mptcp
    assert run.transfer is not None
    # Behind a proxy there is another connection, which is of no path.
    of = {name: run.transfer[name] for name in ("connection", "direction")}
    flows = run.flows.filter(pl.col("share") > 0, **of)
    shares = (
        flows.join(run.subflows, on=["connection", "subflow"]).group_by("path").agg(pl.sum("share"))
    )
    assert shares["share"].sum() == pytest.approx(1)
    assert shares.height == len(run.scenario["path"])
    # A path that is slow alone carries little: no less than a tenth of its part of what all have.
    alone = {path: one.throughput_mbps or 0 for path, one in compared.baselines.items()}
    for path, share in shares.select("path", "share").iter_rows():
        assert share > 0.1 * alone[path] / sum(alone.values()), (path, share, alone)


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
