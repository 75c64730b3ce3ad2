"""Keep-alives, for NATs forget connections that are silent; they also end one whose peer has gone.

While a run transfers, its control connection says nothing. RFC 5382 (REQ-5) asks NATs to remember
connections of TCP for two hours, and not all do.
"""

from __future__ import annotations

import contextlib
import socket

IDLE_SECONDS = 4
# A peer that does not answer for a minute is gone.
GONE_SECONDS = 60
OPTIONS = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, IDLE_SECONDS),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, IDLE_SECONDS),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, GONE_SECONDS // IDLE_SECONDS),
    (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, GONE_SECONDS * 1000),
)


def keep_alive(sock: socket.socket) -> None:
    """Have the kernel ask the peer now and then whether it is still there."""
    for level, option, value in OPTIONS:
        with contextlib.suppress(OSError):
            sock.setsockopt(level, option, value)
