"""What the kernel's socket diagnosis says of TCP sockets (linux/inet_diag.h, linux/sock_diag.h)."""

from __future__ import annotations

import ipaddress
import socket
import struct
from typing import NamedTuple

from mptcplab.engines.kernel.agent import netlink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.engines.kernel.agent.information import Tuple

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
# Attributes of a socket, of its upper layer protocol, of an MPTCP subflow.
INET_DIAG_INFO = 2
INET_DIAG_CONG = 4
INET_DIAG_ULP_INFO = 19
INET_ULP_INFO_MPTCP = 3
MPTCP_SUBFLOW_ATTR_FLAGS = 8
BACKUP = 1 << 4 | 1 << 5
# SYN-SENT to LAST-ACK and CLOSING: neither closed, nor listening, nor in TIME-WAIT.
ALIVE = sum(1 << state for state in (1, 2, 3, 4, 5, 8, 9, 11))
ANY_STATE = 0xFFFF_FFFF
NO_COOKIE = 0xFFFF_FFFF

# Family, protocol, extensions, pad, states; then ports, addresses, interface, cookie.
_REQUEST = struct.Struct("=BBBxI")
_PORTS = struct.Struct(">HH")
_REST = struct.Struct("=III")
# Family to retransmissions, identity, expiry, queues, owner, inode.
_ANSWER_BYTES = 4 + 48 + 20


class Policy(NamedTuple):
    """What a subflow goes by: its congestion controller, and whether it is a backup."""

    congestion_control: str | None
    backup: bool | None


class Diagnosis:
    """Asks about sockets of this network namespace."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_SOCK_DIAG)
        # Numbers of the interfaces that sockets turned out to be bound to.
        self._interfaces: dict[Tuple, int] = {}

    def policy(self, ends: Tuple) -> Policy:
        """Give what a socket goes by; nothing is known of one that is not there."""
        # Subflows of an endpoint with a device are bound to it, and found with its number only.
        known = self._interfaces.get(ends)
        numbers = (
            [0, *(number for number, _ in socket.if_nameindex())] if known is None else [known]
        )
        for number in numbers:
            try:
                (answer,) = netlink.ask(self._socket, _named(ends, number))
            except OSError:
                continue
            self._interfaces[ends] = number
            return policy_of(netlink.attributes(answer[_ANSWER_BYTES:]))
        self._interfaces.pop(ends, None)
        return Policy(None, None)

    def alive(self) -> int:
        """Count the TCP sockets that are open or closing."""
        count = 0
        for family in (socket.AF_INET, socket.AF_INET6):
            body = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, ALIVE) + bytes(48)
            request = netlink.message(SOCK_DIAG_BY_FAMILY, netlink.DUMP, body)
            count += sum(1 for _ in netlink.ask(self._socket, request))
        return count

    def close(self) -> None:
        """Ask no more."""
        self._socket.close()


def _named(ends: Tuple, interface: int) -> bytes:
    """Ask for the socket of these ends."""
    local, remote = (ipaddress.ip_address(address) for address, _ in ends)
    family = socket.AF_INET if local.version == 4 else socket.AF_INET6
    identity = _PORTS.pack(ends[0][1], ends[1][1])
    identity += local.packed.ljust(16, b"\0") + remote.packed.ljust(16, b"\0")
    identity += _REST.pack(interface, NO_COOKIE, NO_COOKIE)
    # What the protocol above has to say comes with what TCP says only.
    wanted = 1 << (INET_DIAG_CONG - 1) | 1 << (INET_DIAG_INFO - 1)
    body = _REQUEST.pack(family, socket.IPPROTO_TCP, wanted, ANY_STATE) + identity
    return netlink.message(SOCK_DIAG_BY_FAMILY, 0, body)


def policy_of(found: dict[int, bytes]) -> Policy:
    """Read what a socket goes by from its attributes."""
    name = found.get(INET_DIAG_CONG)
    return Policy(None if name is None else name.rstrip(b"\0").decode(), _backup(found))


def _backup(found: dict[int, bytes]) -> bool | None:
    protocol = netlink.attributes(found.get(INET_DIAG_ULP_INFO, b""))
    subflow = netlink.attributes(protocol.get(INET_ULP_INFO_MPTCP, b""))
    flags = subflow.get(MPTCP_SUBFLOW_ATTR_FLAGS)
    return None if flags is None else bool(struct.unpack("=I", flags)[0] & BACKUP)
