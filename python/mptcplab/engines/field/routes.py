"""By which addresses a path reaches the server."""

from __future__ import annotations

import fcntl
import socket
import struct
from dataclasses import dataclass

from mptcplab._core import Error
from mptcplab.scenario.element import NAT64

FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6, NAT64: socket.AF_INET6}
# Of <linux/sockios.h> and <linux/if.h>.
SIOCGIFADDR = 0x8915
NAME_BYTES = 16


@dataclass(frozen=True)
class Route:
    """An interface, its own address, and the server's as seen from it."""

    interface: str
    local: str
    remote: str


def route(interface: str, host: str, port: int, version: int | str = 4) -> Route:
    """Find it, of this version of IP rather than the other.

    Nothing is sent: the kernel is asked which address it would send from.

    Raises:
        Error: There is no such interface, or no way by it.
    """
    try:
        socket.if_nametoindex(interface)
    except OSError:
        raise Error(f"there is no interface {interface}") from None
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
    except OSError as error:
        raise Error(f"there is no server {host}: {error.strerror}") from None
    first = FAMILIES.get(version)
    found.sort(key=lambda one: one[0] != first)
    failure = "no address"
    for family, kind, protocol, _, address in found:
        with socket.socket(family, kind, protocol) as sock:
            try:
                if family == socket.AF_INET:
                    _need_address(sock, interface)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
                sock.connect(address)
            except OSError as error:
                failure = error.strerror or str(error)
                continue
            return Route(interface, str(sock.getsockname()[0]), str(address[0]))
    raise Error(f"no way to {host} by {interface}: {failure}")


def _need_address(sock: socket.socket, interface: str) -> None:
    """Refuse an interface without IPv4: Linux would send from another interface's address."""
    fcntl.ioctl(sock, SIOCGIFADDR, struct.pack(f"{NAME_BYTES}s24x", interface.encode()))
