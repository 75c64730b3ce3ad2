"""What findings say an outage or a failed join cost, beside runs without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import mptcplab as package
from experiments.findings.run import found
from experiments.findings.scenarios import BULK, LTE, WIFI, away, box, event, scenario

# As far as a cost may be from the true one.
FACTOR = 1.5
Table = dict[str, Any]
SLOW = LTE | {"rate": "4 Mbit/s", "delay": "40 ms"}
FAR = WIFI | {"delay": "60 ms", "queue": "100 ms"}


def cases() -> Iterator[tuple[str, Table, Table]]:
    """Paths that die, that are withdrawn, and that come back, each beside the same without."""
    for direction in ("download", "upload"):
        one = BULK | {"direction": direction, "size": "15 MB"}
        for name, lte in (("lte", LTE), ("slow lte", SLOW)):
            both = scenario(one, wifi=WIFI, lte=lte)
            for verb, back in (("blackout", "restore"), ("detach", "attach")):
                events = [event(2, "wifi", verb), event(5, "wifi", back)]
                yield (
                    f"{direction} {verb} beside {name}",
                    scenario(one, timeline=events, wifi=WIFI, lte=lte),
                    both,
                )
        both = scenario(one, wifi=WIFI, lte=LTE)
        gone = [event(2, "wifi", "blackout")]
        yield f"{direction} for good", scenario(one, timeline=gone, wifi=WIFI, lte=LTE), both
        events = sorted([*away("wifi", 2, 4), *away("lte", 2, 4)], key=lambda row: row["at"])
        yield f"{direction} both", scenario(one, timeline=events, wifi=WIFI, lte=LTE), both
        for name, wifi in (("one", WIFI), ("far", FAR)):
            alone = scenario(one, wifi=wifi)
            dead = scenario(one, timeline=away("wifi", 2, 3.5), wifi=wifi)
            yield f"{direction} {name}", dead, alone


CASES = {name: (dead, without) for name, dead, without in cases()}
KINDS = ("path_dead", "outage", "timeout_chain")


@pytest.mark.parametrize("name", CASES)
def test_what_an_outage_costs_is_what_the_run_without_it_takes_less(name: str) -> None:
    """What waited, what the path would have carried, and until the rate is there again."""
    dead, without = CASES[name]
    told = found(dead, 1)
    claimed_s = sum(told["found"].get(kind) or 0.0 for kind in KINDS)
    true_s = told["elapsed_s"] - found(without, 1)["elapsed_s"]
    assert true_s / FACTOR <= claimed_s <= true_s * FACTOR


@pytest.mark.parametrize("joins", ["firewall", "strip-options"])
def test_a_failed_join_costs_what_plain_tcp_carries_over_its_path(joins: str) -> None:
    """Only the runs beside it tell."""
    settings: Table = {"joins": False} if joins == "firewall" else {"segments": "syn"}
    failed = scenario(wifi=WIFI, lte=box(LTE, joins, **settings))
    run = package.run(failed, captures="none")
    (told,) = [row for row in package.why(run).rows if row["kind"].startswith("join_")]
    assert run.mptcp.transfer is not None
    true_s = run.mptcp.transfer["elapsed_s"] - found(scenario(), 1)["elapsed_s"]
    assert true_s / FACTOR <= told["cost_s"] <= true_s * FACTOR
    assert told["cost_mbps"] > 0
    assert "plain TCP over lte alone carries" in told["evidence"]
