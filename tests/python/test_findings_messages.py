"""What findings say where requests wait for their answers, and what a burst lost at its end."""

from __future__ import annotations

import re
from typing import Any

import pytest

from experiments.findings.run import found
from experiments.findings.scenarios import ask, away, event, scenario
from mptcplab import _core
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

Table = dict[str, Any]
FACTOR = 1.5
WIFI = {"rate": "20 Mbit/s", "delay": "10 ms", "queue": "60 kB"}
LTE = {"rate": "12 Mbit/s", "delay": "25 ms", "queue": "80 kB"}
SHORT = ask(response="20 kB", think="50 ms", requests=100)


def findings(table: Table, seed: int) -> list[Table]:
    return list(_core.simulate(plan(load(table)[1], seed, None)).rows("findings"))


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_dead_path_costs_requests_what_they_waited(seed: int) -> None:
    """Whether the request was lost first or its answer, which is chance."""
    both = scenario(SHORT, wifi=WIFI, lte=LTE)
    with_outage = found(both | {"timeline": away("wifi", 2, 5)}, seed)
    true_s = with_outage["elapsed_s"] - found(both, seed)["elapsed_s"]
    assert true_s / FACTOR <= with_outage["found"]["path_dead"] <= true_s * FACTOR


@pytest.mark.parametrize(("requests", "seed"), [(100, 1), (100, 2), (100, 3), (100, 4), (800, 1)])
def test_an_answer_that_waits_for_its_request_is_no_idleness(requests: int, seed: int) -> None:
    """Each pauses for 50 ms, however many were lost: losses are what took the rest."""
    lossy = scenario(SHORT | {"requests": requests}, wifi=WIFI | {"loss": "6 %"}, lte=LTE)
    tables = _core.simulate(plan(load(lossy)[1], seed, None))
    (sent,) = [row for row in tables.rows("transfers") if row["direction"] == "down"]
    idle = [row for row in tables.rows("findings") if row["kind"] == "application"]
    assert bool(idle) is (0.3 * sent["elapsed_s"] <= 0.05 * requests)


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_burst_that_overflows_a_queue_at_its_end_is_no_dead_path(seed: int) -> None:
    """Nothing more went over the path, so that a time-out had to show what was lost."""
    video = {"application": "video", "duration": "20 s"}
    wifi = {"rate": "12 Mbit/s", "delay": "10 ms", "queue": "60 kB"}
    lte = {"rate": "4 Mbit/s", "delay": "25 ms", "queue": "60 kB"}
    rows = findings(scenario(video, wifi=wifi, lte=lte), seed)
    assert "path_dead" not in {row["kind"] for row in rows}


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_path_that_is_away_for_as_long_while_there_is_more_to_send_is_dead(seed: int) -> None:
    whole = {"direction": "download", "size": "12 MB"}
    table = scenario(whole, timeline=away("wifi", 2, 2.6), wifi=WIFI, lte=LTE)
    assert "path_dead" in {row["kind"] for row in findings(table, seed)}


@pytest.mark.parametrize("direction", ["download", "upload"])
@pytest.mark.parametrize("seed", range(1, 4))
def test_each_withdrawal_is_told_of_the_subflow_that_carried_data(
    direction: str, seed: int
) -> None:
    """An address that comes and goes has one subflow after another, the first of which stays."""
    verbs = ("detach", "attach")
    gone = [event(at_s + n, "wifi", verbs[n]) for at_s in (1, 4, 7, 10) for n in (0, 1)]
    wifi = {"rate": "20 Mbit/s", "delay": "10 ms", "queue": "150 kB"}
    lte = {"rate": "12 Mbit/s", "delay": "30 ms", "queue": "200 kB"}
    whole = {"direction": direction, "size": "30 MB"}
    table = scenario(whole, timeline=gone, wifi=wifi, lte=lte)
    tables = _core.simulate(plan(load(table)[1], seed, None))
    flows = {"download": "down", "upload": "up"}[direction]
    subflows = {row["subflow"]: row for row in tables.rows("subflows")}
    wifis = [number for number, row in subflows.items() if row["path"] == "wifi"]
    refused = [row["start_s"] for row in subflows.values() if row["handshake"] == "refused"]

    def carried(subflow: int, until_s: float) -> float:
        return float(
            sum(
                row["bytes"]
                for row in tables.rows("throughput")
                if row["subflow"] == subflow
                and row["direction"] == flows
                and until_s - 1 <= row["at_s"] < until_s
            )
        )

    dead = [row for row in tables.rows("findings") if row["kind"] == "path_dead"]
    assert len(dead) >= 3
    for row in dead:
        at_s = min((1, 4, 7, 10), key=lambda at_s: abs(at_s - row["from_s"]))
        assert row["subflow"] == max(wifis, key=lambda one: carried(one, at_s))
        assert f"port {subflows[row['subflow']]['client_port']}" in row["message"]
        met = any(row["from_s"] <= start_s <= row["to_s"] for start_s in refused)
        assert ("a new join was refused" in row["message"]) is met


def test_times_that_are_rounded_to_one_are_told_apart() -> None:
    """A path that is away for half a second, late."""
    path = {"rate": "8 Mbit/s", "delay": "10 ms", "queue": "10 ms"}
    whole = {"direction": "upload", "size": "34 MB"}
    table = scenario(whole, timeline=away("wifi", 14.55, 15.1), wifi=path, lte=path)
    spans = [
        re.search(r"from ([0-9.]+ s) to ([0-9.]+ s)", row["message"])
        for row in findings(table, 1)
        if row["from_s"] > 10
    ]
    assert any(spans)
    assert all(span[1] != span[2] for span in spans if span)


def test_a_withdrawal_costs_what_its_path_carried_at_other_times() -> None:
    """The subflow that carried data had just joined, and was still slow."""
    both: Table = {
        "wifi": {"rate": "35.63 Mbit/s", "delay": "27 ms", "queue": "278 kB"},
        "lte": {"rate": "22.98 Mbit/s", "delay": "41 ms", "queue": "446 kB"},
    }
    whole = {"direction": "upload", "size": "94.6 MB"}
    times = (1.5, 3.92, 6.34)
    verbs = ("detach", "attach")
    gone = [event(at_s + 1.04 * n, "wifi", verbs[n]) for at_s in times for n in (0, 1)]
    table = scenario(whole, timeline=gone, **both)
    rows = sorted(
        (row for row in findings(table, 1) if row["kind"] == "path_dead"),
        key=lambda row: row["from_s"],
    )
    assert [row["from_s"] for row in rows] == pytest.approx(times, abs=0.1)
    true_s = found(table, 1)["elapsed_s"] - found(scenario(whole, **both), 1)["elapsed_s"]
    assert true_s / FACTOR <= sum(row["cost_s"] for row in rows) <= true_s * FACTOR
