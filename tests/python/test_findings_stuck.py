"""A receiver that takes nothing more: data beyond a hole has filled its memory."""

from __future__ import annotations

import tomllib
from typing import Any

from experiments.guard.scenarios import Case
from mptcplab import _core
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

SEEDS = range(1, 9)


def stopped(settings: dict[str, Any]) -> int:
    """Count the runs that stop of those whose Wi-Fi loses a fifth of a paced download for 4 s."""
    text = Case("20 % lost", "paced download").text("linux")
    _, scenario = load(tomllib.loads(text) | settings)
    runs = (_core.simulate(plan(scenario, seed)).rows("findings") for seed in SEEDS)
    return sum(any(row["kind"] == "receiver_stuck" for row in rows) for rows in runs)


def test_a_receiver_stops_about_as_often_as_linuxs() -> None:
    """Eight of 18 such runs stopped with Linux 6.18; none of six with a receive buffer of 4 MB."""
    assert 2 <= stopped({}) <= 6
    assert stopped({"tcp": {"receive_buffer": "4 MB"}}) == 0
