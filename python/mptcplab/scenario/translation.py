"""Carriers that have IPv6 only, and a server of IPv4 behind their translators."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Address
from typing import Any

from mptcplab.scenario.element import NAT64, TRANSLATORS
from mptcplab.scenario.source import Source
from mptcplab.scenario.timeline import Profile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.scenario.resolved import Scenario


def inside(address: str) -> str:
    """Give the client's address that the carrier's NAT64 makes this one of."""
    return str(IPv6Address(f"fd00:464::{address}"))


def dns64(address: str) -> str:
    """Give what names of a server lead to that has this address of IPv4 and none of IPv6."""
    return str(IPv6Address(f"64:ff9b:1::{address}"))


def check_paths(scenario: Scenario, source: Source) -> None:
    """Refuse a NAT64 alone where there is IPv4 before it, and paths that need one without it."""
    alone = {name: list(_alone(name, scenario)) for name in scenario.links}
    for name, path in scenario.paths.items():
        if path.link is None:
            continue
        if path.ip == NAT64 and not all(alone[path.link]):
            raise source.fault(
                ("path", name, "ip"),
                f'"{NAT64}" needs a link with the element nat64 and without clat, at all times',
            )
        if path.ip != NAT64 and any(alone[path.link]):
            raise source.fault(
                ("path", name),
                f'nat64 alone translates what has IPv6 alone: say ip = "{NAT64}", or put clat '
                "nearer to the client",
            )
    for number, traffic in enumerate(scenario.cross_traffic):
        if any(alone[traffic.link]):
            raise source.fault(
                ("cross_traffic", number, "link"),
                "its hosts have IPv4, which nat64 without clat does not pass",
            )
    if scenario.converter is not None and any(map(any, alone.values())):
        raise source.fault(
            ("converter",), "converters ask for a server of IPv4: have clat before nat64"
        )


def _alone(link: str, scenario: Scenario) -> Iterator[bool]:
    """Say of all that a link is or may become whether it has a NAT64 and no CLAT."""
    own = scenario.links[link]
    forms: list[Any] = [dict(own), *(own.alternatives or ())]
    for event in scenario.timeline:
        path = scenario.paths.get(event.path)
        if isinstance(event, Profile) and path is not None and path.link == link:
            forms += [dict(event), *(event.alternatives or ())]
    for form in forms:
        elements = {one.get("element") for one in (*form["uplink"], *form["downlink"])}
        yield [name for name in TRANSLATORS if name in elements] == [NAT64]
