"""Cross traffic: a neighbour at the client's end of a link, and a peer of its own."""

from __future__ import annotations

from typing import Any

from mptcplab import _core
from mptcplab.engines.kernel.hosts import EVERYWHERE, link_up
from mptcplab.engines.kernel.network import Agent, Host, Interface
from mptcplab.scenario.section import DIRECTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.engines.kernel.settings import Settings
    from mptcplab.scenario.traffic import Traffic

PORT = 5001
ENDS = ("neighbour", "peer")
MTU_BYTES = 1500
INTERFACE = "eth0"


def addresses(number: int) -> dict[str, str]:
    """Give the addresses of both ends."""
    return dict(zip(ENDS, _core.cross_traffic_addresses(number), strict=True))


def hosts(number: int, traffic: Traffic, settings: Settings) -> list[Host]:
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
        for end, address in addresses(number).items()
    ]


def agents(number: int, traffic: Traffic, settings: Settings) -> dict[str, Agent]:
    """Give what runs in them: of TCP the neighbour connects, of datagrams who sends."""
    way = DIRECTIONS[traffic.direction]
    job: dict[str, Any] = {"start_ns": traffic.start, "stop_ns": traffic.stop}
    connects, listens = ENDS
    if traffic.kind == "udp":
        if way == "down":
            connects, listens = listens, connects
        job["transfer"] = {
            "application": "datagrams",
            "rate_bits_per_second": traffic.rate,
            "packet_bytes": traffic.packet,
        }
    else:
        job["transfer"] = {"application": "bulk", "direction": way}
        job |= {
            "connections": traffic.flows,
            "congestion_control": settings.congestion_control,
        }
    own = addresses(number)
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
