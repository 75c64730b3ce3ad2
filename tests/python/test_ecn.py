"""Queues that mark rather than drop, where ends speak ECN (RFC 3168)."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import mptcplab
from mptcplab.results.run import Run

CONTROLLERS = ("cubic-linux", "reno", "lia-linux", "olia", "balia", "wvegas", "coupled-decrease")


def run(ecn: str, queue: dict[str, Any], **mptcp: Any) -> Run:
    """Download over two paths, each with such a queue."""

    def link(rate: str, delay: str) -> dict[str, Any]:
        propagation = {"element": "delay", "delay": delay}
        limit = {"element": "rate", "rate": rate}
        return {"uplink": [limit, propagation], "downlink": [limit | {"queue": queue}, propagation]}

    scenario = {
        "schema": 1,
        "transfer": {"direction": "download", "size": "10 MB"},
        "link": {"home": link("20 Mbit/s", "20 ms"), "cell": link("10 Mbit/s", "40 ms")},
        "path": {"wifi": {"link": "home"}, "lte": {"link": "cell"}},
        "mptcp": mptcp,
        "tcp": {"ecn": ecn},
    }
    return mptcplab.run(scenario, baselines=False).mptcp


@pytest.mark.parametrize("queue", ["codel", "fq-codel", "pie"])
def test_what_is_marked_is_not_lost(queue: str) -> None:
    marks = run("request", {"queue": queue, "ecn": True})
    assert marks.subflows["ecn"].to_list() == [True, True]
    down = marks.flows.filter(direction="down")
    assert all(down["marked_packets"])
    assert down["retransmitted_packets"].sum() == down["lost_packets"].sum()
    lost = down["lost_packets"].sum()
    # PIE drops above a probability of 10 % (RFC 8033 §5.1), which slow start may reach.
    assert lost == 0 or queue == "pie"
    assert marks.flows.filter(direction="up")["marked_packets"].sum() == 0
    counted = marks.queues.filter(direction="down").group_by("link").last()["marked_packets"].sum()
    assert 0 < counted <= down["marked_packets"].sum()

    for ecn, marking in (("accept", True), ("off", True), ("request", False)):
        drops = run(ecn, {"queue": queue, "ecn": marking})
        assert set(drops.subflows["ecn"]) == {ecn == "request"}
        down = drops.flows.filter(direction="down")
        assert down["marked_packets"].sum() == 0
        assert down["lost_packets"].sum() > lost


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_every_controller_comes_down(controller: str) -> None:
    queue = {"queue": "codel", "ecn": True, "packets": 1000}
    marks = run("request", queue, congestion_control=controller)
    down = marks.flows.filter(direction="down")
    assert down["retransmitted_packets"].sum() == down["lost_packets"].sum() == 0
    # 1000 packets in front of 10 Mbit/s are more than a second.
    late = marks.queues.filter(pl.col("direction") == "down", pl.col("at_s") > 2)
    assert late["queue_delay_ms"].to_numpy().mean() < 50


def test_bbr_goes_on() -> None:
    marked, deep = (
        run("request", queue, congestion_control="bbr")
        for queue in ({"queue": "codel", "ecn": True}, {"queue": "drop-tail", "packets": 1000})
    )
    assert marked.flows["marked_packets"].sum() > 100
    assert deep.flows["marked_packets"].sum() == 0
    assert marked.throughput_mbps == pytest.approx(deep.throughput_mbps, rel=0.1)
