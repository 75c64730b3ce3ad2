"""Chooses how to capture, by what this user may do."""

from __future__ import annotations

from mptcplab._core import Error
from mptcplab.engines.field.captures.dumpcap import Dumpcap
from mptcplab.engines.field.captures.packet import Source
from mptcplab.engines.field.captures.packet_socket import PacketSocket


def opened(port: int, snap: int) -> Source:
    """Capture the TCP packets of a port from now on, with dumpcap where we may not ourselves.

    Raises:
        Error: Neither may; says why of both.
    """
    try:
        return PacketSocket(port, snap)
    except OSError as error:
        reason = error.strerror or str(error)
    try:
        return Dumpcap(port, snap)
    except (Error, OSError) as error:
        raise Error(f"AF_PACKET: {reason}; {error}") from None
