"""What the kernel tells of its own sockets: linux/tcp.h, linux/mptcp.h."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from pathlib import Path

NETSTAT = Path("/proc/net/netstat")
TCP_SAVE_SYN, TCP_SAVED_SYN = 27, 28
IPPROTO_MPTCP = 262
SOL_MPTCP, MPTCP_INFO = 284, 1
FALLBACK = 1
TCP_INFO_BYTES, MPTCP_INFO_BYTES, SYN_BYTES = 248, 96, 240
# Flags of tcpi_options.
TIMESTAMPS = 1
TIMESTAMPS_BYTES = 12


@dataclass(frozen=True)
class Told:
    """A socket's ``TCP_INFO``; None where this kernel does not tell."""

    options: int
    send_scale: int
    receive_scale: int
    send_mss: int
    advertised_mss: int
    rtt_ms: float
    bytes_acked: int
    send_window: int | None
    receive_window: int | None


def tcp_info(connection: socket.socket) -> Told:
    """Ask for ``TCP_INFO``."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)

    def number(at: int, kind: str = "I") -> int | None:
        there = at + struct.calcsize(kind) <= len(info)
        return struct.unpack_from(kind, info, at)[0] if there else None

    return Told(
        options=info[5],
        send_scale=info[6] & 15,
        receive_scale=info[6] >> 4,
        send_mss=number(16) or 0,
        advertised_mss=number(84) or 0,
        rtt_ms=(number(148) or 0) / 1000,
        bytes_acked=number(120, "Q") or 0,
        send_window=number(228),
        receive_window=number(232),
    )


def speaks_mptcp(connection: socket.socket) -> bool | None:
    """Say whether a connection is MPTCP and has not fallen back; None where nobody tells."""
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


def further_subflows(connection: socket.socket) -> int | None:
    """Give how many subflows a connection has beside its first."""
    try:
        return connection.getsockopt(SOL_MPTCP, MPTCP_INFO, MPTCP_INFO_BYTES)[0]
    except OSError:
        return None
