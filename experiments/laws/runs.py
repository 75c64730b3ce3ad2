"""Simulated runs for laws: links without a rate unless one is said, buffers that never hold anything back."""

from __future__ import annotations

import json
from typing import Any

from mptcplab import _core
from mptcplab.analysis import Analysis
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

Table = dict[str, Any]

# As formulas have it: an ACK per segment (so hosts look at each when it comes, below), and nothing that finds or forgives losses
# by time.
PLAIN: Table = {
    "delayed_ack": "off",
    "initial_ssthresh": "50 packets",
    "rack": False,
    "tail_loss_probe": False,
    "undo": False,
    "f_rto": False,
}
AMPLE: Table = {
    "max_receive_buffer": "64 MB",
    "receive_buffer": "16 MB",
    "send_buffer": "4 MB",
    "send_buffer_tuning": False,
}
# The simplest policies, for laws that set others: every address is joined, and data goes where the round trip is shortest.
POLICIES: Table = {
    "congestion_control": "lia",
    "scheduler": "lowest-rtt",
    "path_manager": "full-mesh",
    "max_subflows": 8,
    "max_add_addr_accepted": 8,
}


def path(rtt_ms: float, *elements: Table) -> Table:
    """Describe a link of that round-trip time; downwards packets meet the elements too."""
    delay = {"element": "delay", "delay": f"{rtt_ms / 2:g} ms"}
    return {"uplink": [delay], "downlink": [delay, *elements]}


def loss(ratio: float) -> Table:
    """Independent loss."""
    return {"element": "loss", "ratio": f"{ratio * 100:.9g} %"}


def download(
    links: dict[str, Table],
    seconds: float,
    *,
    seed: int = 1,
    mptcp: Table | None = None,
    tcp: Table | None = None,
    **more: Any,
) -> Analysis:
    """Download for so long, with MPTCP where its settings are given; a path per link."""
    scenario = {
        "schema": 1,
        "transfer": {"direction": "download", "duration": f"{seconds:.3f} s"},
        "link": links,
        "path": {name: {"link": name} for name in links},
        "mptcp": POLICIES | ({"enabled": False} if mptcp is None else mptcp),
        "tcp": PLAIN | AMPLE | (tcp or {}),
        "run": {"stop": f"{seconds + 3600:.3f} s", "sample": "0 s", "processing": "0 s"},
    } | more
    return Analysis(_core.simulate(plan(load(scenario, [])[1], seed), samples=False))


def packets_per_s(run: Analysis) -> dict[str, float]:
    """Give how many data packets each path of the first connection sent per second, those sent again too."""
    flows = run.flows.filter(direction="down", connection=0)
    paths = dict(run.subflows.filter(connection=0).select("subflow", "path").iter_rows())
    seconds = run.connections.filter(connection=0)["duration_s"].item()
    sent: dict[str, float] = {}
    for subflow, packets in flows.select("subflow", "data_packets").iter_rows():
        sent[paths[subflow]] = sent.get(paths[subflow], 0.0) + packets / seconds
    return sent


def mbps(run: Analysis) -> float:
    """Give what arrived in order on the first connection."""
    return float(run.transfers.filter(direction="down", connection=0)["throughput_mbps"].item())


def losses(run: Analysis) -> int:
    """Count what links lost downwards."""
    return run.drops.filter(direction="down", reason="loss").height


def as_json(value: Table) -> str:
    """Write a table so that it can be a key."""
    return json.dumps(value, sort_keys=True)
