"""What the kernel says of sockets, of ours and of foreign ones: MPTCP_FULL_INFO, TCP_INFO and diag.

linux/mptcp.h, linux/tcp.h, linux/inet_diag.h. Before Linux 6.5 MPTCP_FULL_INFO has to be asked for
in three parts. Structures grow at their end from kernel to kernel: what one does not have is
``None``.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import ipaddress
import os
import re
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from mptcplab.engines.kernel.agent import netlink

End: TypeAlias = tuple[str, int]
Tuple: TypeAlias = tuple[End, End]
Fields: TypeAlias = dict[str, int | None]


class Layout:
    """Where the fields of a structure are: offset and format of each, in their order."""

    def __init__(self, **fields: tuple[int, str]) -> None:
        self.names = tuple(fields)
        self.ends = [offset + struct.calcsize(form) for offset, form in fields.values()]
        # Fields between them are left out.
        gaps = [
            (offset - before, form)
            for (offset, form), before in zip(fields.values(), [0, *self.ends], strict=False)
        ]
        self.whole = struct.Struct("=" + "".join(f"{gap}x{form}" for gap, form in gaps))


SOL_MPTCP = 284
INFO, TCPINFO, SUBFLOW_ADDRS, FULL_INFO = 1, 2, 3, 4
FALLBACK = 1 << 0
TCP_INFO = Layout(
    state=(0, "B"),
    ca_state=(1, "B"),
    backoff=(4, "B"),
    delivery_flags=(7, "B"),
    rto=(8, "I"),
    unacked=(24, "I"),
    sacked=(28, "I"),
    lost=(32, "I"),
    retrans=(36, "I"),
    rtt=(68, "I"),
    rttvar=(72, "I"),
    snd_ssthresh=(76, "I"),
    snd_cwnd=(80, "I"),
    total_retrans=(100, "I"),
    pacing_rate=(104, "Q"),
    bytes_acked=(120, "Q"),
    bytes_received=(128, "Q"),
    segs_out=(136, "I"),
    segs_in=(140, "I"),
    notsent_bytes=(144, "I"),
    min_rtt=(148, "I"),
    data_segs_in=(152, "I"),
    data_segs_out=(156, "I"),
    delivery_rate=(160, "Q"),
    busy_time=(168, "Q"),
    rwnd_limited=(176, "Q"),
    sndbuf_limited=(184, "Q"),
    bytes_sent=(200, "Q"),
    bytes_retrans=(208, "Q"),
    snd_wnd=(228, "I"),
)
MPTCP_INFO = Layout(
    flags=(8, "I"),
    token=(12, "I"),
    write_seq=(16, "Q"),
    snd_una=(24, "Q"),
    bytes_retrans=(48, "Q"),
    bytes_sent=(56, "Q"),
    bytes_received=(64, "Q"),
    bytes_acked=(72, "Q"),
)
# More than any kernel has of either, so that nothing is cut off.
STRUCTURE_BYTES = 512
MOST_SUBFLOWS = 64
# State of a subflow that is gone.
CLOSED = 7
# struct mptcp_full_info: sizes (kernel's and ours of tcp_info, kernel's and ours of a subflow's
# addresses), subflows, room for them, the two pointers; mptcp_info follows.
_FULL = struct.Struct("=6I2Q")
# struct mptcp_subflow_data: its size, subflows, sizes of one in the kernel and here; they follow.
_PARTS = struct.Struct("=4I")
ADDRESSES_BYTES = 256
# struct mptcp_subflow_info: an identifier, then local and remote address as sockaddr_storage.
SUBFLOW_BYTES = 264
LOCAL = 8
STORAGE_BYTES = 128

_libc = ctypes.CDLL(None, use_errno=True)


class Subflow(NamedTuple):
    """One of its TCP connections."""

    ends: Tuple
    tcp: Fields


class Information(NamedTuple):
    """A connection, and its subflows (plain TCP: the only one)."""

    mptcp: Fields | None
    # Whether a socket of MPTCP speaks plain TCP.
    fallback: bool
    subflows: list[Subflow]


class Reader:
    """Reads the information of one socket after the other."""

    def __init__(self) -> None:
        self._full = bytearray(_FULL.size + STRUCTURE_BYTES)
        self._addresses = bytearray(MOST_SUBFLOWS * SUBFLOW_BYTES)
        self._tcp = bytearray(MOST_SUBFLOWS * STRUCTURE_BYTES)
        self._requests = [_shared(each) for each in (self._full, self._addresses, self._tcp)]
        #: Of plain TCP: a socket that has closed still knows its counts, and no longer its peer.
        self._ends: WeakKeyDictionary[socket.socket, Tuple] = WeakKeyDictionary()

    def read(self, sock: socket.socket) -> Information:
        """Read all that there is; raises ``OSError`` where the socket is gone."""
        for read in (self._whole, self._in_parts):
            try:
                return read(sock)
            except OSError as error:
                if error.errno not in (errno.EOPNOTSUPP, errno.ENOPROTOOPT):
                    raise
        raw = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, STRUCTURE_BYTES)
        with contextlib.suppress(OSError):
            self._ends[sock] = _end(sock.getsockname()), _end(sock.getpeername())
        if (ends := self._ends.get(sock)) is None:
            raise OSError(errno.ENOTCONN, "the socket was closed before it was read")
        # After a fallback the kernel answers for the TCP socket beneath.
        protocol = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PROTOCOL)
        fallback = protocol == socket.IPPROTO_MPTCP
        return Information(None, fallback, [Subflow(ends, fields(TCP_INFO, raw))])

    def _whole(self, sock: socket.socket) -> Information:
        sizes = 0, STRUCTURE_BYTES, 0, SUBFLOW_BYTES, 0, MOST_SUBFLOWS
        full, *arrays = self._requests
        _FULL.pack_into(self._full, 0, *sizes, *map(ctypes.addressof, arrays))
        length = _ask(sock, FULL_INFO, full)
        # It uses the lesser of both sizes, and returns it.
        _, tcp_bytes, _, subflow_bytes, count, *_ = _FULL.unpack_from(self._full)
        if subflow_bytes < SUBFLOW_BYTES:
            raise OSError(errno.EPROTO, "the kernel's addresses of a subflow are of another form")
        subflows = range(min(count, MOST_SUBFLOWS))
        addresses = [
            self._addresses[index * SUBFLOW_BYTES + LOCAL : (index + 1) * SUBFLOW_BYTES]
            for index in subflows
        ]
        tcp = [self._tcp[index * tcp_bytes : (index + 1) * tcp_bytes] for index in subflows]
        return _information(self._full[_FULL.size : length], addresses, tcp)

    def _in_parts(self, sock: socket.socket) -> Information:
        whole = sock.getsockopt(SOL_MPTCP, INFO, STRUCTURE_BYTES)
        while True:
            addresses = self._part(sock, SUBFLOW_ADDRS, ADDRESSES_BYTES)
            tcp = self._part(sock, TCPINFO, STRUCTURE_BYTES)
            # Subflows may come and go meanwhile.
            if self._part(sock, SUBFLOW_ADDRS, ADDRESSES_BYTES) == addresses:
                return _information(whole, addresses, tcp)

    def _part(self, sock: socket.socket, option: int, size: int) -> list[bytearray]:
        memory = self._tcp
        _PARTS.pack_into(memory, 0, _PARTS.size, 0, 0, size)
        length = _ask(sock, option, self._requests[-1])
        _, _, _, size = _PARTS.unpack_from(memory)
        return [memory[start : start + size] for start in range(_PARTS.size, length, size)]


def _ask(sock: socket.socket, option: int, memory: ctypes.Array[ctypes.c_char]) -> int:
    """Have the kernel fill memory that holds the request; returns how many bytes it wrote."""
    length = ctypes.c_uint32(len(memory))
    if _libc.getsockopt(sock.fileno(), SOL_MPTCP, option, memory, ctypes.byref(length)):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return length.value


def _information(
    mptcp: bytes | bytearray, addresses: list[bytearray], tcp: list[bytearray]
) -> Information:
    connection = fields(MPTCP_INFO, mptcp)
    subflows = [
        Subflow((_address(ends[:STORAGE_BYTES]), _address(ends[STORAGE_BYTES:])), tcp_fields)
        for ends, raw in zip(addresses, tcp, strict=True)
        if (tcp_fields := fields(TCP_INFO, raw))["state"] != CLOSED
    ]
    return Information(connection, bool((connection["flags"] or 0) & FALLBACK), subflows)


def _shared(memory: bytearray) -> ctypes.Array[ctypes.c_char]:
    return (ctypes.c_char * len(memory)).from_buffer(memory)


def fields(layout: Layout, raw: bytes | bytearray) -> Fields:
    """Decode the fields of a structure."""
    values = layout.whole.unpack_from(raw.ljust(layout.whole.size, b"\0"))
    found: Fields = dict(zip(layout.names, values, strict=True))
    if len(raw) < layout.whole.size:
        for name, end in zip(layout.names, layout.ends, strict=True):
            if end > len(raw):
                found[name] = None
    return found


def _address(raw: bytes | bytearray) -> End:
    """Read a socket's address."""
    (family,) = struct.unpack_from("=H", raw)
    (port,) = struct.unpack_from(">H", raw, 2)
    packed = raw[4:8] if family == socket.AF_INET else raw[8:24]
    return _end((str(ipaddress.ip_address(bytes(packed))), port))


def _end(address_and_port: tuple[str, int] | tuple[str, int, int, int]) -> End:
    """An IPv4 address stays one on a socket of IPv6."""
    address = ipaddress.ip_address(address_and_port[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address), address_and_port[1]


NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
# Attributes of a socket, of its upper layer protocol, of an MPTCP subflow.
INET_DIAG_INFO = 2
INET_DIAG_CONG = 4
INET_DIAG_ULP_INFO = 19
INET_ULP_INFO_MPTCP = 3
MPTCP_SUBFLOW_ATTR_FLAGS, MPTCP_SUBFLOW_ATTR_ID_REM, MPTCP_SUBFLOW_ATTR_ID_LOC = 8, 9, 10
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
    """A subflow's congestion controller, whether it is a backup, and its addresses' identifiers.

    These, its own and the peer's, are the same at both ends whatever translates addresses between
    them (RFC 8684 §3.2). Before Linux 6.14 ordinary users are not told them.
    """

    congestion_control: str | None = None
    backup: bool | None = None
    ids: tuple[int, int] | None = None


class Diagnosis:
    """Asks about sockets of this network namespace."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_SOCK_DIAG)
        # Numbers of the interfaces that sockets are bound to.
        self._interfaces: dict[Tuple, int] = {}

    def policy(self, ends: Tuple) -> Policy:
        """Give the policy of a socket; its fields are ``None`` if the socket is gone."""
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
        return Policy()

    def alive(self, of: set[Tuple] | None = None) -> int:
        """Count the TCP sockets that are open or closing, among those of these ends."""
        count = 0
        for family in _families():
            body = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, ALIVE) + bytes(48)
            request = netlink.message(SOCK_DIAG_BY_FAMILY, netlink.DUMP, body)
            answers = netlink.ask(self._socket, request)
            count += sum(1 for answer in answers if of is None or _ends_of(answer) in of)
        return count

    def close(self) -> None:
        """Close the netlink socket."""
        self._socket.close()


def _named(ends: Tuple, interface: int) -> bytes:
    """Ask for the socket of these ends."""
    local, remote = (ipaddress.ip_address(address) for address, _ in ends)
    family = socket.AF_INET if local.version == 4 else socket.AF_INET6
    identity = _PORTS.pack(ends[0][1], ends[1][1])
    identity += local.packed.ljust(16, b"\0") + remote.packed.ljust(16, b"\0")
    identity += _REST.pack(interface, NO_COOKIE, NO_COOKIE)
    # The attributes of the upper layer protocol only come with those of TCP.
    wanted = 1 << (INET_DIAG_CONG - 1) | 1 << (INET_DIAG_INFO - 1)
    body = _REQUEST.pack(family, socket.IPPROTO_TCP, wanted, ANY_STATE) + identity
    return netlink.message(SOCK_DIAG_BY_FAMILY, 0, body)


def policy_of(found: dict[int, bytes]) -> Policy:
    """Read the policy of a socket from its attributes."""
    name = found.get(INET_DIAG_CONG)
    subflow = _subflow(found)
    return Policy(
        None if name is None else name.rstrip(b"\0").decode(), _backup(subflow), _ids(subflow)
    )


def _backup(subflow: dict[int, bytes]) -> bool | None:
    flags = subflow.get(MPTCP_SUBFLOW_ATTR_FLAGS)
    return None if flags is None else bool(struct.unpack("=I", flags)[0] & BACKUP)


def _ids(subflow: dict[int, bytes]) -> tuple[int, int] | None:
    own, peer = (subflow.get(one) for one in (MPTCP_SUBFLOW_ATTR_ID_LOC, MPTCP_SUBFLOW_ATTR_ID_REM))
    return None if own is None or peer is None else (own[0], peer[0])


def _subflow(found: dict[int, bytes]) -> dict[int, bytes]:
    """Give MPTCP's attributes of a subflow; none of plain TCP."""
    return _of_protocol(found.get(INET_DIAG_ULP_INFO, b""))


# Most attributes are those of the sample before.
@functools.lru_cache(maxsize=1024)
def _of_protocol(raw: bytes) -> dict[int, bytes]:
    return netlink.attributes(netlink.attributes(raw).get(INET_ULP_INFO_MPTCP, b""))


INET_DIAG_REQ_PROTOCOL = 3
MPTCP_SUBFLOW_ATTR_TOKEN_LOC = 2

# struct inet_diag_req_v2: family, protocol, extensions, pad, states; the socket's identity follows.
_DUMP = struct.Struct("=BBBxI")
IDENTITY_BYTES = 48
# struct inet_diag_msg: family, state, timer, retransmissions; ports, addresses; then what we do
# not ask for.
_ANSWER = struct.Struct(">BxxxHH16s16s")
ANSWER_BYTES = 72


class ForeignConnection(NamedTuple):
    """A connection, by its token (plain TCP: by its ends)."""

    key: int | Tuple
    information: Information
    policies: dict[Tuple, Policy]


class ForeignSockets:
    """Asks about all connections of this network namespace."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_SOCK_DIAG)

    def read(self) -> list[ForeignConnection]:
        """Give all connections."""
        found: dict[int | Tuple, ForeignConnection] = {}
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
            connection = found.setdefault(
                key, ForeignConnection(key, Information(mptcp, fallback, []), {})
            )
            tcp = fields(TCP_INFO, attributes[INET_DIAG_INFO])
            connection.information.subflows.append(Subflow(ends, tcp))
            connection.policies[ends] = policy_of(attributes)
        return list(found.values())

    def _dump(self, protocol: int) -> Iterator[tuple[Tuple, dict[int, bytes]]]:
        wanted = 1 << (INET_DIAG_CONG - 1) | 1 << (INET_DIAG_INFO - 1)
        for family in _families():
            body = _DUMP.pack(family, protocol & 0xFF, wanted, ALIVE) + bytes(IDENTITY_BYTES)
            body += netlink.attribute(INET_DIAG_REQ_PROTOCOL, struct.pack("=I", protocol))
            request = netlink.message(SOCK_DIAG_BY_FAMILY, netlink.DUMP, body)
            for answer in netlink.ask(self._socket, request):
                ends = _ends_of(answer)
                attributes = netlink.attributes(answer[ANSWER_BYTES:])
                # There is no information of a connection that TCP has not yet accepted.
                if INET_DIAG_INFO in attributes:
                    yield ends, attributes


def _families() -> Iterator[int]:
    """Give those with sockets of TCP: the kernel goes through all buckets for each family."""
    for family, file in ((socket.AF_INET, "sockstat"), (socket.AF_INET6, "sockstat6")):
        # Without IPv6 there is no file of it.
        with contextlib.suppress(FileNotFoundError):
            statistics = Path("/proc/net", file).read_text("ascii")
            if not re.search(r"^TCP6?: inuse 0\b", statistics, re.MULTILINE):
                yield family


def _token(attributes: dict[int, bytes]) -> int | None:
    raw = _subflow(attributes).get(MPTCP_SUBFLOW_ATTR_TOKEN_LOC)
    token: int | None = None if raw is None else struct.unpack("=I", raw)[0]
    return token


def _ends_of(answer: bytes) -> Tuple:
    """Read the ends of a socket."""
    family, local_port, remote_port, local, remote = _ANSWER.unpack_from(answer)
    return _end_of(family, local, local_port), _end_of(family, remote, remote_port)


@functools.lru_cache(maxsize=1024)
def _end_of(family: int, packed: bytes, port: int) -> End:
    """An IPv4 address stays one on a socket of IPv6."""
    if family == socket.AF_INET:
        return str(ipaddress.IPv4Address(packed[:4])), port
    address = ipaddress.IPv6Address(packed)
    return str(address.ipv4_mapped or address), port
