"""What the kernel says of sockets that are none of ours (linux/inet_diag.h, linux/mptcp.h)."""

from __future__ import annotations

import ipaddress
import socket
import struct
from typing import NamedTuple

from mptcplab.engines.kernel.agent import netlink
from mptcplab.engines.kernel.agent.diagnosis import (
    ALIVE,
    INET_DIAG_CONG,
    INET_DIAG_INFO,
    INET_DIAG_ULP_INFO,
    INET_ULP_INFO_MPTCP,
    NETLINK_SOCK_DIAG,
    SOCK_DIAG_BY_FAMILY,
    Policy,
    policy_of,
)
from mptcplab.engines.kernel.agent.information import (
    FALLBACK,
    MPTCP_INFO,
    TCP_INFO,
    Information,
    Subflow,
    fields,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mptcplab.engines.kernel.agent.information import End, Tuple

INET_DIAG_REQ_PROTOCOL = 3
MPTCP_SUBFLOW_ATTR_TOKEN_LOC = 2

# struct inet_diag_req_v2: family, protocol, extensions, pad, states; the socket's identity follows.
_REQUEST = struct.Struct("=BBBxI")
IDENTITY_BYTES = 48
# struct inet_diag_msg: family, state, timer, retransmissions; ports, addresses; then what we do
# not ask for.
_ANSWER = struct.Struct(">BxxxHH16s16s")
ANSWER_BYTES = 72


class Stranger(NamedTuple):
    """A connection, by its token (plain TCP: by its ends)."""

    key: int | Tuple
    information: Information
    policies: dict[Tuple, Policy]


class Strangers:
    """Asks about all connections of this network namespace."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_SOCK_DIAG)

    def read(self) -> list[Stranger]:
        """Give those that there are."""
        found: dict[int | Tuple, Stranger] = {}
        connections = {
            info["token"]: info
            for _, attributes in self._dump(socket.IPPROTO_MPTCP)
            for info in [fields(MPTCP_INFO, attributes[INET_DIAG_INFO])]
        }
        for ends, attributes in self._dump(socket.IPPROTO_TCP):
            token = _token(attributes)
            mptcp = None if token is None else connections.get(token)
            key = ends if token is None else token
            fallback = bool(mptcp and (mptcp["flags"] or 0) & FALLBACK)
            stranger = found.setdefault(key, Stranger(key, Information(mptcp, fallback, []), {}))
            tcp = fields(TCP_INFO, attributes[INET_DIAG_INFO])
            stranger.information.subflows.append(Subflow(ends, tcp))
            stranger.policies[ends] = policy_of(attributes)
        return list(found.values())

    def _dump(self, protocol: int) -> Iterator[tuple[Tuple, dict[int, bytes]]]:
        wanted = 1 << (INET_DIAG_CONG - 1) | 1 << (INET_DIAG_INFO - 1)
        for family in (socket.AF_INET, socket.AF_INET6):
            body = _REQUEST.pack(family, protocol & 0xFF, wanted, ALIVE) + bytes(IDENTITY_BYTES)
            body += netlink.attribute(INET_DIAG_REQ_PROTOCOL, struct.pack("=I", protocol))
            request = netlink.message(SOCK_DIAG_BY_FAMILY, netlink.DUMP, body)
            for answer in netlink.ask(self._socket, request):
                of, local_port, remote_port, local, remote = _ANSWER.unpack_from(answer)
                ends = _end(of, local, local_port), _end(of, remote, remote_port)
                attributes = netlink.attributes(answer[ANSWER_BYTES:])
                # Of a connection that is not yet accepted by TCP nothing is known.
                if INET_DIAG_INFO in attributes:
                    yield ends, attributes


def _token(attributes: dict[int, bytes]) -> int | None:
    protocol = netlink.attributes(attributes.get(INET_DIAG_ULP_INFO, b""))
    subflow = netlink.attributes(protocol.get(INET_ULP_INFO_MPTCP, b""))
    raw = subflow.get(MPTCP_SUBFLOW_ATTR_TOKEN_LOC)
    token: int | None = None if raw is None else struct.unpack("=I", raw)[0]
    return token


def _end(family: int, packed: bytes, port: int) -> End:
    """An IPv4 address stays one on a socket of IPv6."""
    if family == socket.AF_INET:
        return str(ipaddress.IPv4Address(packed[:4])), port
    address = ipaddress.IPv6Address(packed)
    return str(address.ipv4_mapped or address), port
