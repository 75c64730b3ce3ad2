"""The hosts as Linux has them: client, server, and those of cross traffic."""

from __future__ import annotations

from typing import Any

from mptcplab import _core
from mptcplab.engines.kernel.features import BY_PROGRAM
from mptcplab.engines.kernel.namespace import FORCED, SIX
from mptcplab.engines.kernel.network import QUEUE_PACKETS, Agent, Host, Interface
from mptcplab.engines.kernel.settings import Settings
from mptcplab.scenario.element import NAT64
from mptcplab.scenario.path import Path
from mptcplab.scenario.plan import addresses, server_addresses
from mptcplab.scenario.scenario import Scenario
from mptcplab.scenario.section import DIRECTIONS
from mptcplab.scenario.traffic import Traffic
from mptcplab.scenario.translation import inside

EVERYWHERE = {4: "0.0.0.0/0", 6: "::/0"}
BITS = {4: 32, 6: 128}
# Where an address leaves by its own path: the path's table, after this one.
TABLE = 100
# Identifiers of endpoints: the path's number; those of IPv6 after those of IPv4.
IPV6_IDS = 8


def version(address: str) -> int:
    """Say of which version of IP an address is."""
    return 6 if ":" in address else 4


def link_up(interface: Interface) -> str:
    """Bring an interface up that sends nothing by itself."""
    return (
        f"link set dev {interface.name} mtu {interface.mtu_bytes} txqueuelen {QUEUE_PACKETS} "
        "arp off multicast off up"
    )


class Client:
    """The client: an interface per path, and the commands when one is attached or detached."""

    def __init__(self, scenario: Scenario, settings: Settings, *, mptcp: bool) -> None:
        self._paths = {
            name: (number, path) for number, (name, path) in enumerate(scenario.paths.items(), 1)
        }
        self._settings = settings
        self._mptcp = mptcp
        self._use = endpoint_flags(scenario) if mptcp else None
        # A guard may have taken endpoints away already.
        self._forced = FORCED if scenario.mptcp.path_manager in BY_PROGRAM else ""

    def host(self, names: list[str]) -> Host:
        """Give the host with the interfaces of these paths, all of them down."""
        setup = ["link set lo up"]
        if self._mptcp:
            setup.append(limits(self._settings))
        setup += [
            f"{SIX if version(address) == 6 else ''}"
            f"rule add from {address} lookup {TABLE + number} priority {TABLE + number}"
            for number, path in (self._paths[name] for name in names)
            for address in addresses(number, path)
        ]
        interfaces = [self._interface(name) for name in names]
        return Host("client", "client", interfaces, self._settings.sysctls, setup)

    def attach(self, name: str) -> list[str]:
        """Bring a path: its addresses, its routes, and last its endpoints, which use them."""
        number, path = self._paths[name]
        lines = [link_up(self._interface(name))]
        for address in addresses(number, path):
            # Routes may name an address of IPv6 only once it is no longer tentative.
            nodad = " nodad" if version(address) == 6 else ""
            prefix = 24 if version(address) == 4 else 64
            lines.append(f"address add {address}/{prefix} dev {name} noprefixroute{nodad}")
            everywhere = f"route add {EVERYWHERE[version(address)]} dev {name} src {address}"
            for table in (f"table {TABLE + number}", f"metric {number}"):
                lines.append(" ".join([everywhere, table, *self._settings.route]))
        if self._use is not None:
            backup = ["backup"] if path.backup else []
            for id_, address in self._endpoints(number, path):
                use = [self._use, *backup]
                lines.append(f"mptcp endpoint add {address} id {id_} dev {name} {' '.join(use)}")
        return lines

    def detach(self, name: str) -> list[str]:
        """Detach a path: first its interface goes down, then its endpoint is removed."""
        number, path = self._paths[name]
        lines = [f"link set dev {name} down"]
        if self._use is not None:
            lines += [
                f"{self._forced}mptcp endpoint delete id {id_}"
                for id_, _ in self._endpoints(number, path)
            ]
        return [*lines, f"address flush dev {name}"]

    def _interface(self, name: str) -> Interface:
        return Interface(name, name, self._paths[name][1].mtu)

    def _endpoints(self, number: int, path: Path) -> list[tuple[int, str]]:
        return [
            (number if version(address) == 4 else IPV6_IDS + number, address)
            for address in addresses(number, path)
        ]


def endpoint_flags(scenario: Scenario) -> str | None:
    """Say how the path manager uses the client's addresses (`ip mptcp endpoint`).

    With one address of the server all that full mesh gives is one subflow per path. Linux opens
    no other one from the address of the first subflow, once that is gone, where it is `fullmesh`.
    """
    if scenario.mptcp.path_manager == "single":
        return None
    meshed = scenario.server.addresses > 1 and scenario.server.announce
    return (
        "subflow fullmesh" if scenario.mptcp.path_manager == "full-mesh" and meshed else "subflow"
    )


def server(scenario: Scenario, settings: Settings, names: list[str], *, mptcp: bool) -> Host:
    """Give the server: its addresses on its own, and an interface for each of these paths."""
    setup = ["link set lo up"]
    own = server_addresses(scenario)
    setup += [f"address add {address}/{BITS[version(address)]} dev lo" for address in own]
    interfaces = []
    for number, (name, path) in enumerate(scenario.paths.items(), 1):
        if name in names:
            interfaces.append(Interface(name, name, path.mtu))
            setup.append(link_up(interfaces[-1]))
            for network in networks(number, path):
                setup.append(" ".join([f"route add {network} dev {name}", *settings.route]))
    if mptcp:
        setup.append(limits(settings))
        if scenario.server.announce:
            further = [address for index, address in enumerate(own) if _is_further(own, index)]
            setup += [f"mptcp endpoint add {address} signal" for address in further]
    return Host("server", "server", interfaces, settings.sysctls, setup)


def limits(settings: Settings) -> str:
    """Say how many subflows there may be."""
    subflows, accepted = settings.limits
    return f"mptcp limits set subflow {subflows} add_addr_accepted {accepted}"


def networks(number: int, path: Path) -> list[str]:
    """Give the networks of a path: its public addresses are in them too."""
    four = f"10.0.{number}.0/24"
    if path.ip == NAT64:
        return [four, f"{inside(f'10.0.{number}.0')}/120"]
    return [
        four if version(address) == 4 else f"fd00:0:{number}::/64"
        for address in addresses(number, path)
    ]


def _is_further(own: list[str], index: int) -> bool:
    """Whether it is not the one of its version that clients connect to."""
    return any(version(other) == version(own[index]) for other in own[:index])


PORT = 5001
ENDS = ("neighbour", "peer")
MTU_BYTES = 1500
INTERFACE = "eth0"


def traffic_addresses(number: int) -> dict[str, str]:
    """Give the addresses of both ends."""
    return dict(zip(ENDS, _core.cross_traffic_addresses(number), strict=True))


def of_traffic(number: int, traffic: Traffic, settings: Settings) -> list[Host]:
    """Give its two hosts."""
    mtu_bytes = max(MTU_BYTES, traffic.packet if traffic.kind == "udp" else 0)
    interface = Interface(INTERFACE, str(traffic.name), mtu_bytes)
    default = f"route add {EVERYWHERE[4]} dev {INTERFACE}"
    return [
        Host(
            f"{end} {traffic.name}",
            end,
            [interface],
            settings.sysctls,
            [
                "link set lo up",
                link_up(interface),
                f"address add {address}/32 dev {INTERFACE}",
                " ".join([default, *settings.route]),
            ],
        )
        for end, address in traffic_addresses(number).items()
    ]


def agents_of_traffic(number: int, traffic: Traffic, settings: Settings) -> dict[str, Agent]:
    """Give what runs in them: of TCP the neighbour connects, of datagrams who sends."""
    direction = DIRECTIONS[traffic.direction]
    job: dict[str, Any] = {"start_ns": traffic.start, "stop_ns": traffic.stop}
    connects, listens = ENDS
    if traffic.kind == "udp":
        if direction == "down":
            connects, listens = listens, connects
        job["transfer"] = {
            "application": "datagrams",
            "rate_bits_per_second": traffic.rate,
            "packet_bytes": traffic.packet,
        }
    else:
        job["transfer"] = {"application": "bulk", "direction": direction}
        job |= {
            "connections": traffic.flows,
            "congestion_control": settings.congestion_control,
        }
    own = traffic_addresses(number)
    remote = [own[listens], PORT]
    connect = {"local": [own[connects], 0], "remote": remote}
    return {
        f"{listens} {traffic.name}": Agent(f"{listens} {traffic.name}", job | {"listen": remote}),
        f"{connects} {traffic.name}": Agent(
            f"{connects} {traffic.name}", job | {"connect": connect}
        ),
    }


def receiver(traffic: Traffic) -> str:
    """Name the agent that counts what came."""
    return f"{ENDS[0] if traffic.direction == 'download' else ENDS[1]} {traffic.name}"
