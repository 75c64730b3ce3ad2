"""NAT64 without CLAT, before Linux: its path manager joins between addresses of one version."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.machines import Machine
from engine.shells import Shell

PAGE = Path(__file__).parents[2] / "docs/middleboxes.md"
INSIDE, SYNTHESISED = "fd00:464::a00:102", "64:ff9b:1::a09:1"
OVER_WIFI = ("10.0.2.2", "10.9.1.1")


def documented() -> str:
    """Give the scenario of the documentation."""
    blocks: list[str] = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (scenario,) = (one for one in blocks if 'ip = "nat64"' in one)
    return scenario


def test_programs_reach_the_server_by_what_dns64_gives(host: Machine) -> None:
    said = Shell(host, documented()).run("sh", "-c", "getent ahosts server")
    assert said.split()[0] == SYNTHESISED


@pytest.mark.parametrize(
    ("changes", "ends"),
    [
        ({}, [(INSIDE, SYNTHESISED), OVER_WIFI]),
        ({"addresses = 2": "addresses = 1"}, [(INSIDE, SYNTHESISED)]),
        ({'ip = "nat64"': 'ip = "nat64"\nattached = false'}, [("10.0.2.2", "10.9.0.1"), OVER_WIFI]),
    ],
    ids=["announced", "not announced", "begun over Wi-Fi"],
)
def test_linux_joins_what_is_of_one_version(
    host: Machine, changes: dict[str, str], ends: list[tuple[str, str]]
) -> None:
    scenario = documented()
    for old, new in changes.items():
        assert old in scenario
        scenario = scenario.replace(old, new)
    if "attached" in scenario:
        scenario += '\n[[timeline]]\nat = "100 ms"\npath = "lte"\nverb = "attach"\n'
    run = host.undisturbed(scenario.replace("4 MB", "2 MB"))
    assert run.outcome["bytes_received"]["down"] == 2_000_000
    assert run.connections["fallback"].to_list() == [None]
    subflows = run.subflows.sort("subflow").to_dicts()
    assert [(one["client_address"], one["server_address"]) for one in subflows] == ends
    # The server's samples are those of its own addresses, and of the carrier's.
    sampled = [row for row in run.tables.rows("state") if row["host"] == "server"]
    assert {row["subflow"] for row in sampled} == set(range(len(ends)))
