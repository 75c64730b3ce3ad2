"""A receiver that takes nothing more: data beyond a hole has filled its memory."""

from __future__ import annotations

import tomllib
from typing import Any

from experiments.guard.scenarios import Case
from mptcplab import _core
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

SEEDS = range(1, 9)


def stopped(case: Case, settings: dict[str, Any]) -> int:
    """Count the runs of a case that stop with these settings."""
    table = tomllib.loads(case.text("linux"))
    for section, changes in settings.items():
        table[section] = table.get(section, {}) | changes
    _, scenario = load(table)
    runs = (_core.simulate(plan(scenario, seed)).rows("findings") for seed in SEEDS)
    return sum(any(row["kind"] == "receiver_stuck" for row in rows) for rows in runs)


def test_a_receiver_stops_about_as_often_as_linuxs() -> None:
    """Eight of 18 such runs stopped with Linux 6.18; none of six with a receive buffer of 4 MB."""
    case = Case("20 % lost", "paced download")
    assert 2 <= stopped(case, {}) <= 6
    assert stopped(case, {"tcp": {"receive_buffer": "4 MB"}}) == 0


def test_an_upload_stops_where_two_messages_go_at_once() -> None:
    """Their first segment is whole, and the window reckoned with it: shorter ones fill memory."""
    case = Case("fade", "paced upload")
    assert stopped(case, {}) == 0
    assert stopped(case, {"transfer": {"message": "2000 B"}}) >= 6
    assert stopped(case, {"transfer": {"message": "1424 B"}}) == 0
