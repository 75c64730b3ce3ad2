"""Laws that controllers keep through the whole simulator: hosts, links, captures' analysis."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

from oracles import simulated
from oracles.simulated import SimulatedRun

SEEDS = range(1, 6)


def law(every: int, rtt_s: float) -> float:
    """Packets per second: a window from w to 2w, a packet more per round trip, then a loss."""
    window = (math.sqrt(1 + 6 * every) - 1) / 3
    return every / (rtt_s * (window + 1))


@pytest.mark.parametrize("rtt_ms", [10, 50, 200])
@pytest.mark.parametrize(("every", "tolerance"), [(10_000, 0.03), (1000, 0.03), (100, 0.1)])
def test_reno_under_periodic_loss(every: int, tolerance: float, rtt_ms: int) -> None:
    delay = {"element": "delay", "delay": f"{rtt_ms / 2:g} ms"}
    loss = {"element": "periodic-loss", "every": f"{every} packets"}
    # Whole cycles, after those in which slow start ends.
    cycles, before = {100: (60, 20), 1000: (20, 4), 10_000: (3, 2)}[every]
    cycle_s = every / law(every, rtt_ms / 1e3)
    made = {
        "schema": 1,
        "transfer": {"direction": "download", "duration": f"{(before + cycles) * cycle_s:.3f} s"},
        "link": {"air": {"uplink": [delay], "downlink": [delay, loss]}},
        "path": {"wifi": {"link": "air"}},
        "mptcp": {"enabled": False},
        "tcp": {
            "congestion_control": "reno",
            "delayed_ack": "off",
            "initial_ssthresh": "50 packets",
            "max_receive_buffer": "64 MB",
            "send_buffer": "64 MB",
            "receive_buffer": "16 MB",
        },
        "run": {"stop": "10000 s", "sample": "1 s"},
    }
    run = simulated.simulate("law", simulated.planned(made))
    drops = run.tables.drops.filter(direction="down", reason="loss")["at_ns"].to_list()
    assert len(drops) >= cycles
    own = drops[len(drops) // 5 or 1 :] if every < 10_000 else drops[1:]
    # From loss to loss pass so many packets, of which one is lost.
    rate = (len(own) - 1) * (every - 1) / ((own[-1] - own[0]) / 1e9)
    assert rate / law(every, rtt_ms / 1e3) == pytest.approx(1, abs=tolerance)


def shared(controller: str, seed: int) -> float:
    """How much the connection with two subflows gets of what the neighbour's one flow gets."""
    settings = [f"mptcp.congestion_control={controller}", "transfer.duration=60 s"]
    run = of_shipped("shared-bottleneck", seed, settings)
    (mine,) = run.tables.transfers.filter(direction="down")["throughput_mbps"]
    neighbour = 20 * 1448 / 1500 - mine
    return float(mine / neighbour)


def of_shipped(name: str, seed: int, settings: list[str]) -> SimulatedRun:
    from mptcplab.scenario.plan import plan
    from mptcplab.scenario.scenario import load

    return simulated.simulate(name, plan(load(name, settings)[1], seed))


def test_lia_takes_what_one_flow_takes_and_reno_twice_that() -> None:
    lia = [shared("lia", seed) for seed in SEEDS]
    reno = [shared("reno", seed) for seed in SEEDS]
    assert 0.7 < sum(lia) / len(lia) < 1.4, lia
    assert 1.5 < sum(reno) / len(reno) < 2.6, reno
    assert max(lia) < min(reno)


def worse_share(controller: str, seed: int) -> float:
    """The part of the traffic on a path that loses nine times as much as the other."""

    def path(ratio: str) -> dict[str, Any]:
        return {"rate": "50 Mbit/s", "delay": "20 ms", "loss": ratio, "queue": "500 kB"}

    made = {
        "schema": 1,
        "transfer": {"direction": "download", "duration": "60 s"},
        "path": {"better": path("0.1 %"), "worse": path("0.9 %")},
        "mptcp": {"congestion_control": controller},
        "tcp": {"initial_ssthresh": "20 packets", "undo": False},
    }
    run = simulated.simulate("olia", simulated.planned(made, seed))
    flows = run.tables.flows.filter(pl.col("direction") == "down").join(
        run.tables.subflows.select("connection", "subflow", "path"), on=["connection", "subflow"]
    )
    return float(flows.filter(path="worse")["share"].sum())


def test_olia_nearly_leaves_the_worse_path_alone() -> None:
    olia = [worse_share("olia", seed) for seed in SEEDS]
    reno = [worse_share("reno", seed) for seed in SEEDS]
    # Uncoupled: 1/√9 of the other's, a quarter of all.
    assert 0.2 < sum(reno) / len(reno) < 0.3, reno
    assert sum(olia) / len(olia) < 0.12, olia
