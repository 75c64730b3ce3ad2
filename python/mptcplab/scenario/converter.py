"""``[converter]``: hosts at the ends of the paths that make MPTCP of TCP, and TCP of MPTCP."""

from __future__ import annotations

from typing import Any, Literal

from mptcplab.scenario.section import Flag, Section, read
from mptcplab.scenario.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.scenario.path import Link

# Between a converter and who is behind it, by end and version of IP: both addresses, and the length
# of the network.
LANS = {
    "client": {4: ("10.10.0.1", "10.10.0.2", 30), 6: ("fd00:10:0::1", "fd00:10:0::2", 64)},
    "server": {4: ("10.10.1.1", "10.10.1.2", 30), 6: ("fd00:10:1::1", "fd00:10:1::2", 64)},
}
# Where the one at the server's end is asked for connections.
PORT = 5124


class Converter(Section):
    """Hosts that convert between TCP and MPTCP at the ends of the paths.

    The transfer is one of plain TCP then, between a client behind the paths' one end and a server
    behind the other.
    """

    at: Literal["both", "client", "server"] = "both"
    """At which end there is one: at the client's, which speaks TCP then, at the server's, or at
    ``"both"``."""
    protocol: Literal["convert", "transparent"] = "convert"
    """How the one at the server's end knows the server: it learns it from the Convert Protocol (RFC
    8803), or connections to the server's own address pass it."""
    fast_open: Flag = False
    """Whether Convert's request goes in the SYN (TCP Fast Open, without cookies). Linux 6.18
    discards much of what comes over further subflows of such a connection."""


def read_converter(value: Any, source: Source) -> Converter:
    """Read the section."""
    # With one converter there is nobody to tell.
    if isinstance(value, dict) and value.get("at", "both") != "both":
        value = {"protocol": "transparent", **value}
    converter = read(Converter, value, ("converter",), source)
    if converter.protocol == "convert" and converter.at != "both":
        raise source.fault(
            ("converter", "protocol"),
            f'"convert" is spoken between two converters, and at = "{converter.at}" has one: '
            'leave it out, or have at = "both"',
        )
    if converter.fast_open and converter.protocol != "convert":
        raise source.fault(
            ("converter", "fast_open"),
            "puts the request of the Convert Protocol in the SYN, and transparent converters send "
            "none: leave it out",
        )
    return converter


def check_proxies(converter: Converter, links: dict[str, Link], source: Source) -> None:
    """Refuse proxies in front of converters that speak: they pass lengths on, and no messages."""
    if converter.protocol != "convert":
        return
    for name, link in links.items():
        elements = [*(link.uplink or ()), *(link.downlink or ())]
        for one in link.alternatives or ():
            elements += [*one["uplink"], *one["downlink"]]
        if any(one.get("element") == "proxy" for one in elements):
            raise source.fault(
                ("converter", "protocol"),
                f'"convert" passes no proxy, and link {name} has one: have protocol = '
                '"transparent"',
            )
