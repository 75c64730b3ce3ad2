"""Where packets leave the kernel: TUN devices, or veth pairs where those are forbidden."""

from __future__ import annotations

import os
from itertools import count
from typing import Literal

from mptcplab.engines.kernel import queueing
from mptcplab.engines.kernel.namespace import ip, set_sysctls
from mptcplab.engines.kernel.network import QUEUE_PACKETS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.engines.kernel.network import Host

Kind = Literal["tun", "packet"]
# Host, name of the path or cross traffic, namespace, interface there, other end's address.
Port = tuple[str, str, int, str, str]

TUN = "/dev/net/tun"
QUIET = {"net.ipv6.conf.default.disable_ipv6": 1}

_numbers = count(1)


def kind() -> Kind:
    """Say what this user may open."""
    try:
        os.close(os.open(TUN, os.O_RDWR))
    except OSError:
        return "packet"
    return "tun"


def prepare(kind: Kind, host: Host) -> None:
    """Give the devices of the host where we are a queue that nothing is lost in."""
    if kind == "tun":
        for one in host.interfaces:
            queueing.first_in_first_out(one.name, QUEUE_PACKETS)


def ports(kind: Kind, host: Host, namespace: int) -> list[Port]:
    """Name the devices of a host for the emulator; make veth pairs, with one end where we are."""
    if kind == "tun":
        return [(host.kind, one.port, namespace, one.name, "") for one in host.interfaces]
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    made: list[Port] = []
    lines = []
    for one in host.interfaces:
        number = next(_numbers)
        name, address = f"veth{number}", f"02:00:00:00:{number:02x}:02"
        # We are the first process of the namespace.
        lines += [
            f"link add name {name} address 02:00:00:00:{number:02x}:01 type veth "
            f"peer name {one.name} address {address} netns /proc/1/fd/{namespace}",
            f"link set {name} mtu {one.mtu_bytes} arp off multicast off up",
        ]
        made.append((host.kind, one.port, own, name, address))
    set_sysctls(QUIET)
    ip(lines)
    return made
