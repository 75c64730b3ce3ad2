"""NAT64 without CLAT: a host of IPv6 alone, and a server of IPv4 that DNS64 leads it to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import mptcplab
from mptcplab.results.comparison import Comparison
from mptcplab.results.run import Run
from mptcplab.scenario.scenario import load

SIZE = 1_000_000
PAGE = Path(__file__).parents[2] / "docs/middleboxes.md"
# What stands for the server's first address, and the client's address on the first path.
SYNTHESISED, INSIDE = "64:ff9b:1::a09:1", "fd00:464::a00:102"


@pytest.fixture
def shown(tmp_path: Path) -> Path:
    """Give the scenario that the documentation shows."""
    blocks = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (block,) = (one for one in blocks if 'ip = "nat64"' in one)
    (tmp_path / "mine.toml").write_text(block)
    return tmp_path / "mine.toml"


def ran(scenario: Path, settings: dict[str, Any], **given: Any) -> Comparison:
    comparison = mptcplab.run(
        str(scenario),
        out=scenario.parent / "run",
        settings={"transfer.size": "1 MB", **settings},
        **given,
    )
    assert comparison.mptcp.outcome["bytes_received"] == {"up": 0, "down": SIZE}
    assert comparison.mptcp.connections["fallback"].to_list() == [None]
    return comparison


def ends(run: Run) -> list[tuple[str, str]]:
    subflows = run.subflows.sort("subflow").to_dicts()
    return [(one["client_address"], one["server_address"]) for one in subflows]


def test_the_other_path_joins_what_the_server_announces(shown: Path) -> None:
    """The carrier has no way there, and Wi-Fi none to where the connection began."""
    comparison = ran(shown, {})
    assert ends(comparison.mptcp) == [(INSIDE, SYNTHESISED), ("10.0.2.2", "10.9.1.1")]
    flows = comparison.mptcp.flows.filter(direction="down")
    assert min(flows["share"]) > 0.1
    assert comparison.mptcp.connections["client_address"].to_list() == [INSIDE]
    # Both ends' captures are one connection's, whatever the versions of IP.
    assert flows["lost_packets"].null_count() == 0
    for baseline in comparison.baselines.values():
        assert baseline.outcome["bytes_received"]["down"] == SIZE


def test_without_an_announcement_nothing_joins(shown: Path) -> None:
    assert ends(ran(shown, {"server.addresses": 1}).mptcp) == [(INSIDE, SYNTHESISED)]


def test_the_carrier_joins_no_address_of_ipv4(shown: Path) -> None:
    """Linux does not make the address that DNS64 would give of one that was announced."""
    first = {"path.lte.backup": True}
    run = ran(shown, first, baselines=False).mptcp
    assert set(ends(run)) == {("10.0.2.2", "10.9.0.1"), ("10.0.2.2", "10.9.1.1")}


def test_two_carriers_with_one_prefix_are_both_used(shown: Path) -> None:
    both = {"path.wifi.ip": "nat64", "path.wifi.middleboxes": [{"element": "nat64"}]}
    run = ran(shown, both | {"server.addresses": 1}, baselines=False).mptcp
    assert ends(run) == [(INSIDE, SYNTHESISED), ("fd00:464::a00:202", SYNTHESISED)]
    assert min(run.flows.filter(direction="down")["share"]) > 0.1


def test_a_server_that_has_ipv6_needs_no_translation(shown: Path) -> None:
    run = ran(shown, {"path.wifi.ip": 6, "server.addresses": 1}, baselines=False).mptcp
    assert ends(run) == [(INSIDE, "fd00:9::1"), ("fd00:0:2::2", "fd00:9::1")]


def test_when_its_public_address_changes_the_other_path_carries_on(shown: Path) -> None:
    rebind = {"timeline": [{"at": "300 ms", "path": "lte", "verb": "rebind"}]}
    run = ran(shown, rebind, baselines=False).mptcp
    over_lte, over_wifi = run.flows.filter(direction="down").sort("subflow")["share"]
    # Without it LTE carries more than a third.
    assert 0 < over_lte < 0.15 < over_wifi


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"path.lte.ip": 6},
            'path.lte: nat64 alone translates what has IPv6 alone: say ip = "nat64"',
        ),
        ({"path.wifi.ip": "nat64"}, 'path.wifi.ip: "nat64" needs a link with the element nat64'),
        (
            {
                "timeline": [
                    {"at": "1 s", "path": "lte", "verb": "profile", "uplink": [], "downlink": []}
                ]
            },
            'path.lte.ip: "nat64" needs a link with the element nat64',
        ),
        ({"cross_traffic": [{"link": "lte"}]}, "cross_traffic.0.link: its hosts have IPv4, "),
        ({"converter": {}}, "converter: converters ask for a server of IPv4"),
    ],
)
def test_what_it_cannot_translate_is_refused(
    shown: Path, settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(mptcplab.ScenarioError, match=re.escape(said)):
        load(str(shown), settings)
