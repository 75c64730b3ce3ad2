"""What the kernel reports of its own sockets: linux/tcp.h, linux/mptcp.h."""

from __future__ import annotations

import ctypes
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

NETSTAT = Path("/proc/net/netstat")
TCP_SAVE_SYN, TCP_SAVED_SYN = 27, 28
SOL_MPTCP, MPTCP_INFO, MPTCP_TCPINFO, MPTCP_SUBFLOW_ADDRS = 284, 1, 2, 3
FALLBACK = 1
TCP_INFO_BYTES, MPTCP_INFO_BYTES, SYN_BYTES = 248, 96, 240
# struct mptcp_subflow_data, and what follows it for each subflow: two addresses, or its TCP_INFO.
SUBFLOW_DATA, ADDRESS_BYTES = struct.Struct("IIII"), 128
MOST_SUBFLOWS = 16
ESTABLISHED = 1
# Flags of tcpi_options.
TIMESTAMPS = 1
TIMESTAMPS_BYTES = 12


@dataclass(frozen=True)
class TcpInfo:
    """A socket's ``TCP_INFO``; None where this kernel does not tell."""

    options: int
    send_mss: int
    advertised_mss: int
    bytes_acked: int
    #: Packets on their way.
    unacknowledged: int
    send_window: int | None
    receive_window: int | None


def tcp_info(connection: socket.socket) -> TcpInfo:
    """Ask for ``TCP_INFO``."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)

    def number(offset: int, kind: str = "I") -> int | None:
        has_it = offset + struct.calcsize(kind) <= len(info)
        return struct.unpack_from(kind, info, offset)[0] if has_it else None

    return TcpInfo(
        options=info[5],
        send_mss=number(16) or 0,
        advertised_mss=number(84) or 0,
        bytes_acked=number(120, "Q") or 0,
        unacknowledged=number(24) or 0,
        send_window=number(228),
        receive_window=number(232),
    )


def traffic_class(family: int) -> tuple[int, int]:
    """Give level and name of the option that holds DSCP and ECN."""
    if family == socket.AF_INET6:
        return socket.IPPROTO_IPV6, socket.IPV6_TCLASS
    return socket.IPPROTO_IP, socket.IP_TOS


def hop_limit(family: int) -> tuple[int, int]:
    """Give level and name of the option that holds the time to live."""
    if family == socket.AF_INET6:
        return socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS
    return socket.IPPROTO_IP, socket.IP_TTL


def speaks_mptcp(connection: socket.socket) -> bool | None:
    """Say whether a connection is MPTCP and has not fallen back."""
    try:
        info = connection.getsockopt(SOL_MPTCP, MPTCP_INFO, MPTCP_INFO_BYTES)
    except OSError:
        # A socket that fell back when it was accepted is TCP's.
        return False
    return not struct.unpack_from("8xI", info)[0] & FALLBACK


def counter(name: str) -> int | None:
    """Give one of the host's counters of MPTCP; None where the kernel does not have it."""
    try:
        lines = NETSTAT.read_text("ascii").splitlines()
    except OSError:
        return None
    names, values = (line.split() for line in lines if line.startswith("MPTcpExt:"))
    return int(values[names.index(name)]) if name in names else None


def announcements() -> list[int]:
    """Give how many addresses the host announced, and how many were announced to it."""
    return [counter("AddAddrTx") or 0, counter("AddAddr") or 0]


def further_subflows(connection: socket.socket) -> int | None:
    """Give how many subflows a connection has beside its first."""
    return _mptcp_count(connection, 0)


def announced(connection: socket.socket) -> int | None:
    """Give how many addresses this end announced on a connection."""
    return _mptcp_count(connection, 1)


def accepted(connection: socket.socket) -> int | None:
    """Give how many of the addresses that the other end announced were accepted."""
    return _mptcp_count(connection, 2)


def _mptcp_count(connection: socket.socket, index: int) -> int | None:
    """Give one of the counts that ``struct mptcp_info`` begins with; None where it is not MPTCP."""
    try:
        return connection.getsockopt(SOL_MPTCP, MPTCP_INFO, MPTCP_INFO_BYTES)[index]
    except OSError:
        return None


def subflows(connection: socket.socket) -> list[tuple[str, bool]]:
    """Give the local address of each subflow, and whether it is established."""
    addresses = _of_subflows(connection, MPTCP_SUBFLOW_ADDRS, 2 * ADDRESS_BYTES)
    states = _of_subflows(connection, MPTCP_TCPINFO, TCP_INFO_BYTES)
    return [
        (_address(address), state[0] == ESTABLISHED)
        for address, state in zip(addresses, states, strict=False)
    ]


def _of_subflows(connection: socket.socket, option: int, size: int) -> list[bytes]:
    request = SUBFLOW_DATA.pack(SUBFLOW_DATA.size, 0, 0, size)
    size_bytes = SUBFLOW_DATA.size + MOST_SUBFLOWS * size
    try:
        answer = _getsockopt(connection, option, request, size_bytes)
    except OSError:
        return []
    _, count, _, _ = SUBFLOW_DATA.unpack_from(answer)
    starts = range(SUBFLOW_DATA.size, len(answer), size)
    return [answer[start : start + size] for start in starts][:count]


def _getsockopt(connection: socket.socket, option: int, request: bytes, size_bytes: int) -> bytes:
    """As Python's, of an option that reads what it is given. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(request, size_bytes)
    length = ctypes.c_uint32(size_bytes)
    handle = connection.fileno()
    if libc.getsockopt(handle, SOL_MPTCP, option, buffer, ctypes.byref(length)):
        raise OSError(ctypes.get_errno(), "getsockopt")
    return buffer.raw[: length.value]


def _address(raw: bytes) -> str:
    family = struct.unpack_from("H", raw)[0]
    if family == socket.AF_INET6:
        return socket.inet_ntop(family, raw[8:24]).removeprefix("::ffff:")
    return socket.inet_ntop(socket.AF_INET, raw[4:8])
