"""What findings say where requests wait for their answers, and what a burst lost at its end."""

from __future__ import annotations

from typing import Any

import pytest

from experiments.findings.run import found
from experiments.findings.scenarios import ask, away, scenario
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
    told = found(both | {"timeline": away("wifi", 2, 5)}, seed)
    true_s = told["elapsed_s"] - found(both, seed)["elapsed_s"]
    assert true_s / FACTOR <= told["found"]["path_dead"] <= true_s * FACTOR


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
    told = findings(scenario(video, wifi=wifi, lte=lte), seed)
    assert "path_dead" not in {row["kind"] for row in told}


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_path_that_is_away_for_as_long_while_there_is_more_to_send_is_dead(seed: int) -> None:
    whole = {"direction": "download", "size": "12 MB"}
    table = scenario(whole, timeline=away("wifi", 2, 2.6), wifi=WIFI, lte=LTE)
    assert "path_dead" in {row["kind"] for row in findings(table, seed)}
