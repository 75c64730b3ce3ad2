"""Sockets of the transfer: of MPTCP or TCP, of IPv4 or IPv6."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from mptcplab._core import Error

SocketAddress: TypeAlias = list[str | int]

# The most connections that may wait to be accepted.
BACKLOG = 1024
CONGESTION_NAME_BYTES = 16
ALLOWED = "net.ipv4.tcp_allowed_congestion_control"


def stream(address: SocketAddress, congestion_control: str | None, *, mptcp: bool) -> socket.socket:
    """Make a socket for the family of an address; it never blocks."""
    protocol = socket.IPPROTO_MPTCP if mptcp else socket.IPPROTO_TCP
    with attempt("a socket of MPTCP" if mptcp else "a socket of TCP"):
        sock = socket.socket(_family(address), socket.SOCK_STREAM, protocol)
    sock.setblocking(False)
    if congestion_control is not None:
        choose(sock, congestion_control)
    return sock


def choose(sock: socket.socket, congestion_control: str) -> None:
    """Have a socket use a congestion control."""
    what = f"congestion control {congestion_control}"
    try:
        with attempt(what):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion_control.encode())
    except Error as error:
        if not isinstance(error.__cause__, PermissionError):
            raise
        allowed = Path("/proc/sys", ALLOWED.replace(".", "/")).read_text("ascii").strip()
        mend = f'sudo sysctl {ALLOWED}="{allowed} {congestion_control}"'
        raise Error(f"{what}: ordinary users may have {allowed}; to fix it: {mend}") from error


def listening(
    address: SocketAddress, congestion_control: str | None, *, mptcp: bool
) -> socket.socket:
    """Listen at an address and port; ``::`` is for IPv4 too."""
    sock = stream(address, congestion_control, mptcp=mptcp)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with attempt(f"to listen at {address[0]} port {address[1]}"):
        sock.bind(_as_tuple(address))
        sock.listen(BACKLOG)
    return sock


def opening(
    local: SocketAddress | None,
    remote: SocketAddress,
    congestion_control: str | None,
    *,
    mptcp: bool,
    device: str | None = None,
) -> socket.socket:
    """Begin to connect, by a device if one is named."""
    sock = stream(remote, congestion_control, mptcp=mptcp)
    if device is not None:
        with attempt(f"to use the interface {device}"):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode() + b"\0")
    with attempt(f"to connect from {local} to {remote}"), contextlib.suppress(BlockingIOError):
        if local is not None:
            sock.bind(_as_tuple(local))
        sock.connect(_as_tuple(remote))
    return sock


def mapped(address: SocketAddress) -> SocketAddress:
    """Give an IPv4 address as a socket of IPv6 has it: subflows over either version may join it.

    Linux lets them, ``mptcp_pm_addr_families_match`` in net/mptcp/pm.c.
    """
    host, port = address
    return address if ":" in str(host) else [f"::ffff:{host}", port]


def datagrams(local: SocketAddress | None, remote: SocketAddress | None) -> socket.socket:
    """Make a socket for UDP, bound and connected as asked for."""
    address = local if local is not None else remote
    assert address is not None  # noqa: S101 - the job was checked
    sock = socket.socket(_family(address), socket.SOCK_DGRAM)
    sock.setblocking(False)
    with attempt(f"datagrams from {local} to {remote}"):
        if local is not None:
            sock.bind(_as_tuple(local))
        if remote is not None:
            sock.connect(_as_tuple(remote))
    return sock


def congestion_control(sock: socket.socket) -> str:
    """Give the congestion control that it uses, with MPTCP that of its first subflow."""
    name = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, CONGESTION_NAME_BYTES)
    return name.rstrip(b"\0").decode()


@contextlib.contextmanager
def attempt(what: str) -> Iterator[None]:
    """Turn an ``OSError`` into an ``Error`` that names the attempt."""
    try:
        yield
    except OSError as error:
        raise Error(f"{what}: {reason(error)}") from error


def reason(error: OSError) -> str:
    """Give the kernel's reason for an error."""
    return error.strerror or str(error)


def _family(address: SocketAddress) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in str(address[0]) else socket.AF_INET


def _as_tuple(address: SocketAddress) -> tuple[str, int]:
    return str(address[0]), int(address[1])
