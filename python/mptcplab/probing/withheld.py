"""Whether a proxy acknowledges data in this host's place: its own acknowledgements are withheld.

W. Wei, C. Zhang, H. Zang, J. Kurose, D. Towsley: Inference and evaluation of split-connection
approaches in cellular data networks, PAM 2006. There each acknowledgement is delayed; where the
server sees a shorter round trip than that, the connection is split.
"""

from __future__ import annotations

import ctypes
import socket
import struct
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from mptcplab.engines.field import probe_protocol, sockets
from mptcplab.probing import syn
from mptcplab.probing.client import Connection, ProbedPath
from mptcplab.probing.row import ALTERED, CLEAR, UNKNOWN, Row

SECONDS = 3.0
# The server may be late to send, and what is let go takes its time.
MARGIN_SECONDS = 1.0
TIMES = 2
STEP_SECONDS = 0.02
SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27
# Classic BPF; a packet begins with the header of TCP: what has payload is dropped before the kernel
# takes it, so that nothing of it is acknowledged.
FILTER = (
    (0x30, 0, 0, 12),  # A = its byte 12
    (0x54, 0, 0, 0xF0),  # A &= 0xf0: the length of the header, in words of 4 bytes
    (0x74, 0, 0, 2),  # A >>= 2
    (0x07, 0, 0, 0),  # X = A
    (0x80, 0, 0, 0),  # A = length of the packet
    (0x1C, 0, 0, 0),  # A -= X
    (0x15, 0, 1, 0),  # A == 0?
    (0x06, 0, 0, 0xFFFFFFFF),  # taken
    (0x06, 0, 0, 0),  # dropped
)


def acknowledgements(path: ProbedPath) -> list[Row]:
    """Withhold them at each port, all at once."""
    ports = path.session.tcp_ports
    with ThreadPoolExecutor(len(ports)) as pool:
        return list(pool.map(lambda port: _port(path, port), ports))


def _port(path: ProbedPath, port: int) -> Row:
    probe, sent = f"withheld ACKs, port {port}", f"after {SECONDS:g} s"
    try:
        for _ in range(TIMES):
            took_ms = _withheld(path, port)
            if took_ms is None:
                return Row(path.name, probe, CLEAR, sent, "none before", "the server got no ACK")
            if took_ms >= SECONDS * 1000 / 2:
                reason = f"an ACK came after {took_ms:.0f} ms, which may be this host's"
                return Row(path.name, probe, UNKNOWN, sent, "", reason)
    except (OSError, KeyError, TypeError, ValueError) as error:
        return Row(path.name, probe, UNKNOWN, sent, "", f"{error}")
    evidence = "somebody else acknowledges what the server sends"
    return Row(path.name, probe, ALTERED, sent, f"after {took_ms:.0f} ms", evidence)


def _withheld(path: ProbedPath, port: int) -> float | None:
    """Have data sent that this host does not acknowledge; give when a proxy did, in ms.

    Raises OSError.
    """
    with path.connect(port=port) as connection:
        routers = syn.parse(bytes.fromhex(connection.ask("look")["syn"])).routers
        release = _filtered(connection.socket)
        connection.socket.sendall(probe_protocol.line({"do": "withheld", "seconds": SECONDS}))
        _until_acknowledged(connection)
        if release is None:
            release = _expiring(connection.socket, routers)
        # From here on the server sends, and looks for this long.
        time.sleep(probe_protocol.LEAD_SECONDS + SECONDS + MARGIN_SECONDS)
        release()
        connection.read(probe_protocol.WITHHELD_BYTES)
        took_ms = connection.answer()["acknowledged_ms"]
        if not isinstance(took_ms, int | float | None):
            raise OSError("the answer was altered on the way")
        return took_ms


def _until_acknowledged(connection: Connection) -> None:
    until = time.monotonic() + MARGIN_SECONDS * 5
    while sockets.tcp_info(connection.socket).unacknowledged:
        if time.monotonic() > until:
            raise TimeoutError("the request was not acknowledged")
        time.sleep(STEP_SECONDS)


def _filtered(sock: socket.socket) -> Callable[[], None] | None:
    """Drop what comes with payload; gives what undoes it; none where the kernel does not let us.

    Some kernels (Linux 6.18.44) grant it on sockets of TCP to CAP_NET_ADMIN alone.
    """
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in FILTER))
    program = struct.pack("HP", len(FILTER), ctypes.addressof(code))
    try:
        sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
    except PermissionError:
        return None
    return lambda: sock.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)


def _expiring(sock: socket.socket, routers: int) -> Callable[[], None]:
    """Have acknowledgements expire before the server; gives what undoes it. Raises OSError."""
    if not routers:
        raise OSError(
            "no router before the server at which ACKs could expire, and this host may not drop "
            "packets of a socket (CAP_NET_ADMIN)"
        )
    option = sockets.hop_limit(sock.family)
    usual = sock.getsockopt(*option)
    # At the first: the nearer, the fewer boxes can have changed it.
    sock.setsockopt(*option, 1)
    with suppress(BlockingIOError):
        if sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
            raise OSError("the data came before ACKs could expire")
    return lambda: sock.setsockopt(*option, usual)
