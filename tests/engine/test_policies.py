"""Policies beside Linux's path manager: they open and close paths, and leave the host as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.guarded import LTE, WIFI, Guard, Lab, refuses


def begin(hosts: Lab, policy: str, *more: str, **parameters: Any) -> Guard:
    return hosts.guard("--policy", policy, "--parameters", json.dumps(parameters), *more)


def addresses(hosts: Lab) -> list[str]:
    return [one.split()[0] for one in hosts.endpoints()]


def test_a_second_path_is_there_on_demand(hosts: Lab) -> None:
    before = hosts.configuration()
    policy = begin(hosts, "on-demand", after=50_000, idle=1_000_000_000)
    assert "opens and closes paths by the policy on-demand" in policy.begins
    # 100 kB every 3 s.
    hosts.fetch(size=100_000, pause=3)
    policy.decides("path-closed", LTE)
    assert "on-demand: " in policy.decides("path-opened", LTE)["evidence"]
    policy.decides("path-closed", LTE)
    assert addresses(hosts) == [WIFI]
    policy.decides("path-opened", LTE)
    policy.end()
    assert hosts.configuration() == before


def test_a_budget_is_kept(hosts: Lab) -> None:
    before = hosts.configuration()
    policy = begin(hosts, "budget", "--plans", json.dumps({"wifi": {"budget_bytes": 300_000}}))
    hosts.fetch()
    evidence = policy.decides("path-spent", WIFI)["evidence"]
    assert evidence.startswith("budget: 0.3")
    assert evidence.endswith("its budget of data is used up")
    policy.decides("path-closed", WIFI)
    assert addresses(hosts) == [LTE]
    assert "0 opened, 1 closed; endpoints are as they were found" in policy.end()
    assert hosts.configuration() == before


def test_a_path_that_costs_too_much_becomes_a_backup(hosts: Lab) -> None:
    before = hosts.configuration()
    plans = json.dumps({"wifi": {"cost_per_mb": 2}})
    policy = begin(hosts, "budget", "--plans", plans, then="backup", cost_budget=0.5)
    hosts.fetch()
    assert "its budget of cost" in policy.decides("path-spent", WIFI)["evidence"]
    policy.decides("path-backup", WIFI)
    assert "backup" in hosts.endpoints()[0]
    policy.end()
    assert hosts.configuration() == before


def test_a_backup_is_spared_until_it_is_needed(hosts: Lab) -> None:
    hosts.ip("client", "mptcp endpoint change id 2 backup")
    before = hosts.configuration()
    policy = begin(hosts, "offload", size=10**9, tolerance=4 * 10**9)
    hosts.fetch()
    policy.decides("path-closed", LTE)
    policy.decides("path-opened", LTE)
    assert "backup" not in hosts.endpoints()[1]
    policy.end()
    assert hosts.configuration() == before


def test_another_path_is_tried_where_one_gets_worse(hosts: Lab) -> None:
    before = hosts.configuration()
    policy = begin(hosts, "maps", probe=1_000_000_000)
    hosts.fetch()
    policy.decides("path-closed", LTE)
    hosts.lose(WIFI)
    policy.decides("path-opened", LTE)
    policy.decides("path-closed", WIFI)
    assert addresses(hosts) == [LTE]
    policy.end()
    assert hosts.configuration() == before


def test_the_next_puts_back_what_a_killed_one_closed(hosts: Lab) -> None:
    before = hosts.configuration()
    first = begin(hosts, "on-demand", after=10**9)
    hosts.fetch()
    first.decides("path-closed", LTE)
    hosts.waits(lambda: addresses(hosts) == [WIFI])
    first.kill()
    second = begin(hosts, "on-demand", after=10**9)
    second.decides("path-closed", LTE)
    second.end()
    assert hosts.configuration() == before


def test_who_only_observes_closes_nothing(hosts: Lab) -> None:
    before = hosts.configuration()
    policy = begin(hosts, "on-demand", "--observe", after=10**9)
    hosts.fetch()
    policy.decides("path-closed", LTE)
    assert hosts.configuration() == before
    assert "nothing was touched" in policy.end()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--policy", "guard"], "--policy needs one of budget, maps, offload, on-demand"),
        (
            ["--policy", "maps", "--parameters", '{"worse": 2}'],
            "--parameters: path manager `maps`, parameter `worse`: must be",
        ),
        (["--policy", "budget", "--plans", '{"wifi": {"bytes": 1}}'], "--plans: unknown field"),
    ],
)
def test_refuses_what_makes_no_sense(arguments: list[str], said: str) -> None:
    refuses(arguments, said)
