"""Links of which it is not known what they are: one of several is drawn for each run."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from mptcplab.scenario import long
from mptcplab.scenario.fault import ScenarioError
from mptcplab.scenario.resolved import drawn
from mptcplab.scenario.scenario import load
from mptcplab.scenario.timeline import Profile

DELAY = {"element": "delay", "delay": "20 ms"}


def sides(mbps: int) -> dict[str, Any]:
    rate = {"element": "rate", "rate": f"{mbps} Mbit/s"}
    return {"uplink": [DELAY], "downlink": [rate, DELAY]}


def scenario(alternatives: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "schema": 1,
        "transfer": {"direction": "download", "size": "10 kB"},
        "link": {"air": sides(5) | {"alternatives": alternatives} | more},
        "path": {"air": {"link": "air"}},
        "mptcp": {"enabled": False},
    }


def rates(given: dict[str, Any], seeds: range, number: int = 0) -> list[int]:
    read = load(given)[1]
    downlinks = [drawn(read, seed).links["air"].downlink or [] for seed in seeds]
    return [elements[number]["rate"] for elements in downlinks]


def test_runs_have_each_link_with_its_probability() -> None:
    given = scenario([{"weight": 0.3, **sides(7)}, {"weight": 0.2, **sides(9)}])
    found = Counter(rates(given, range(1500)))
    # A share of 1500 runs has a standard error of 0.013 at most.
    assert {rate: round(count / 1500, 1) for rate, count in found.items()} == {
        5_000_000: 0.5,
        7_000_000: 0.3,
        9_000_000: 0.2,
    }
    assert rates(given, range(20)) == rates(given, range(20))


def test_what_is_drawn_of_a_link_is_drawn_of_that_which_the_run_has() -> None:
    own = {"rate": {"of": ["downlink.0.rate"], "spread": 0.1}}
    given = scenario([{"weight": 0.5, **sides(50), "draw": own}])
    found = rates(given, range(200))
    assert {rate for rate in found if rate < 10_000_000} == {5_000_000}
    high = [rate for rate in found if rate > 10_000_000]
    assert len(set(high)) > 50


def test_middleboxes_stand_before_each_of_them() -> None:
    own = {"rate": {"of": ["downlink.0.rate"], "spread": 0.1}}
    given = scenario(
        [{"weight": 0.5, **sides(50), "draw": own}], middleboxes=[{"element": "firewall"}]
    )
    assert len(set(rates(given, range(20), number=1))) > 2


def test_the_long_form_reads_back_as_the_same() -> None:
    import tomllib

    read = load(scenario([{"weight": 0.3, **sides(7)}]))[1]
    again = load(tomllib.loads(long.write(read)))[1]
    assert again.links["air"].alternatives == read.links["air"].alternatives
    assert "alternatives" not in long.write(drawn(read, 1))


def test_what_the_timeline_brings_has_them_too() -> None:
    event = {"at": "1 s", "path": "air", "verb": "profile", **sides(5)}
    event["alternatives"] = [{"weight": 0.5, **sides(7)}]
    read = load(scenario([]) | {"timeline": [event]})[1]
    brought = [drawn(read, seed).timeline[0] for seed in range(30)]
    assert all(isinstance(one, Profile) and one.alternatives is None for one in brought)
    assert len({str(getattr(one, "downlink")) for one in brought}) == 2  # noqa: B009


@pytest.mark.parametrize(
    ("alternatives", "complaint"),
    [
        ([3], "link.air.alternatives.0: is not a table with weight, uplink and downlink"),
        ([sides(7)], "link.air.alternatives.0: needs weight"),
        ([{"weight": 0.5, "uplink": []}], "link.air.alternatives.0: needs downlink"),
        (
            [{"weight": 0.5, "uplink": [], "downlink": 3}],
            "link.air.alternatives.0.downlink: is not a list of elements",
        ),
        ([{"weight": 1.5, **sides(7)}], "link.air.alternatives.0.weight: 1.5 is not above 0 and"),
        (
            [{"weight": 0.5, **sides(7)}, {"weight": 0.6, **sides(7)}],
            "link.air.alternatives: their weights are 1.1 together, which leaves nothing",
        ),
        (
            [{"weight": 0.5, **sides(7)}, {"weight": 0.5, **sides(9)}],
            "link.air.alternatives: their weights are 1 together, which leaves nothing",
        ),
        (
            [{"weight": 0.5, "wieght": 1, **sides(7)}],
            "link.air.alternatives.0.wieght: there is no such key; did you mean weight?",
        ),
        (
            [{"weight": 0.5, **sides(7), "draw": {"rate": {"of": ["downlink.0.rate"]}}}],
            "link.air.alternatives.0.draw.rate: needs spread",
        ),
    ],
)
def test_what_is_wrong_is_said_where_it_stands(alternatives: list[Any], complaint: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(scenario(alternatives))
    assert complaint in str(caught.value)
