"""PIE holds its target (RFC 8033), FQ-CoDel parts flows from each other (RFC 8290): a download beside four greedy neighbours."""

from __future__ import annotations

from functools import partial

from experiments.laws import runs
from experiments.laws.law import Case, Law, Reading
from mptcplab import _core
from mptcplab.analysis import Analysis
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

SECONDS, SETTLED_S, NEIGHBOURS = 40, 10, 4
PAYLOAD = 1448 / 1500


def beside(rate_mbps: int, queue: runs.Table) -> Analysis:
    """Download with Reno through a queue beside neighbours, over a round trip of 40 ms."""
    limit = {"element": "rate", "rate": f"{rate_mbps} Mbit/s", "queue": queue}
    plain = runs.path(40)
    scenario = {
        "schema": 1,
        "transfer": {"direction": "download", "duration": f"{SECONDS} s"},
        "link": {"one": {"uplink": plain["uplink"], "downlink": [limit, *plain["downlink"]]}},
        "path": {"one": {"link": "one"}},
        "mptcp": runs.POLICIES | {"enabled": False},
        "tcp": {"congestion_control": "reno"},
        "cross_traffic": [
            {"link": "one", "kind": "tcp", "flows": NEIGHBOURS, "congestion_control": "reno"}
        ],
        "run": {"stop": f"{SECONDS + 60} s", "sample": "20 ms"},
    }
    return Analysis(_core.simulate(plan(load(scenario, [])[1], 1), samples=True))


def read_pie(target_ms: int, rate_mbps: int) -> Reading:
    """Compare the mean waiting time with the target (RFC 8033 §3)."""
    run = beside(rate_mbps, {"queue": "pie", "target": f"{target_ms} ms", "packets": 10_000})
    queues = run.queues.filter(direction="down").select("at_s", "queue_delay_ms").iter_rows()
    waits = [wait for at_s, wait in queues if SETTLED_S <= at_s < SECONDS]
    return Reading(target_ms, sum(waits) / len(waits))


def read_share(rate_mbps: int) -> Reading:
    """Compare with an even share (RFC 8290 §1)."""
    run = beside(rate_mbps, {"queue": "fq-codel"})
    return Reading(rate_mbps * PAYLOAD / (NEIGHBOURS + 1), runs.mbps(run))


PIE = ((15, 5), (15, 20), (15, 60), (30, 20))

LAW = Law(
    "queues",
    ("queue", "rate"),
    "ms waited, or Mbit/s of one flow",
    (
        *(
            Case((f"pie, {target} ms", f"{rate} Mbit/s"), partial(read_pie, target, rate), 0.9, 1.1)
            for target, rate in PIE
        ),
        *(
            Case(("fq-codel, five flows", f"{rate} Mbit/s"), partial(read_share, rate), 0.95, 1.05)
            for rate in (5, 20)
        ),
    ),
)
