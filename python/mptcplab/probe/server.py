"""The server's end of probes: sends to those alone who asked, on that very connection."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
import time
from contextlib import ExitStack, suppress

from mptcplab._core import Error
from mptcplab.probe import kernel, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

# Connections at a time; more are closed at once.
MOST_CONNECTIONS = 256
PATIENCE_SECONDS = 10.0
JOINS_CAME = "MPJoinSynRx"
# The receive buffer of a connection that is to be held up.
SMALL_BUFFER_BYTES = 16_384


def serve(
    ports: Sequence[int],
    token: bytes,
    *,
    address: str = "",
    ready: Callable[[], None] | None = None,
) -> None:
    """Answer probes until interrupted: TCP on each port, and MPTCP on the one after the first.

    Raises:
        Error: A port cannot be had.
    """
    guard = protocol.Guard(token)
    free = threading.BoundedSemaphore(MOST_CONNECTIONS)
    with ExitStack() as open_:
        listeners = [open_.enter_context(_listen(address, port, mptcp=False)) for port in ports]
        with suppress(OSError):
            listeners.append(open_.enter_context(_listen(address, ports[0] + 1, mptcp=True)))
        for listener in listeners[1:]:
            threading.Thread(target=_accept, args=(listener, guard, free), daemon=True).start()
        if ready:
            ready()
        _accept(listeners[0], guard, free)


def _listen(address: str, port: int, *, mptcp: bool) -> socket.socket:
    """Listen on both families where the kernel has them."""
    family = (
        socket.AF_INET if "." in address or not socket.has_dualstack_ipv6() else socket.AF_INET6
    )
    protocol_ = kernel.IPPROTO_MPTCP if mptcp else 0
    listener = socket.socket(family, socket.SOCK_STREAM, protocol_)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        if not mptcp:
            listener.setsockopt(socket.IPPROTO_TCP, kernel.TCP_SAVE_SYN, 1)
        listener.bind((address, port))
        listener.listen()
    except OSError as error:
        listener.close()
        if mptcp:
            raise
        raise Error(f"cannot listen on port {port}: {error.strerror}") from error
    return listener


def _accept(
    listener: socket.socket, guard: protocol.Guard, free: threading.BoundedSemaphore
) -> None:
    while True:
        connection, _ = listener.accept()
        if not free.acquire(blocking=False):
            connection.close()
            continue

        def work(connection: socket.socket = connection) -> None:
            try:
                with connection, suppress(OSError, ValueError):
                    answer(connection, guard)
            finally:
                free.release()

        threading.Thread(target=work, daemon=True).start()


def answer(connection: socket.socket, guard: protocol.Guard) -> None:
    """Answer all that is asked on a connection, if its first line is good; else send nothing.

    Raises:
        OSError: The connection is gone.
        ValueError: A request cannot be read.
    """
    connection.settimeout(PATIENCE_SECONDS)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    raw = b""
    with suppress(OSError):
        raw = connection.getsockopt(socket.IPPROTO_TCP, kernel.TCP_SAVED_SYN, kernel.SYN_BYTES)
    # No more is read than the line: what follows may be meant to stay in the kernel.
    if not guard.admits(_line(connection)):
        return
    while request := _line(connection):
        asked = json.loads(request)
        connection.settimeout(PATIENCE_SECONDS + protocol.MOST_SECONDS)
        connection.sendall(protocol.line(_do(connection, asked, raw)))
        if asked["do"] == "give":
            connection.sendall(protocol.pattern(_bounded(asked["bytes"], protocol.MOST_BYTES)))


def _do(connection: socket.socket, asked: dict[str, Any], raw: bytes) -> dict[str, Any]:
    match asked["do"]:
        case "look":
            told = kernel.tcp_info(connection)
            return {
                "syn": raw.hex(),
                "peer": connection.getpeername()[:2],
                "advertised_mss": told.advertised_mss,
                "receive_scale": told.receive_scale,
                "send_window": told.send_window,
                "receive_window": told.receive_window,
                "mptcp": kernel.speaks_mptcp(connection),
                "joins": kernel.counter(JOINS_CAME),
                "further_subflows": kernel.further_subflows(connection),
            }
        case "wait":
            time.sleep(_bounded(asked["seconds"], protocol.MOST_SECONDS))
            return {"waited": asked["seconds"]}
        case "take":
            count = int(_bounded(asked["bytes"], protocol.MOST_BYTES))
            return {"sha256": _taken(connection, count)}
        case "hold":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER_BYTES)
            connection.sendall(protocol.line({"holding": True}))
            time.sleep(_bounded(asked["seconds"], 60.0))
            return {"window": kernel.tcp_info(connection).receive_window}
    return {"echo": True}


def _taken(connection: socket.socket, count: int) -> str:
    digest = hashlib.sha256()
    while count:
        piece = connection.recv(min(count, 65536))
        if not piece:
            raise ConnectionResetError
        digest.update(piece)
        count -= len(piece)
    return digest.hexdigest()


def _bounded(value: object, most: float) -> Any:
    """Give a number that is not beyond what one may ask for."""
    if not isinstance(value, int | float) or not 0 <= value <= most:
        raise ValueError
    return value


def _line(connection: socket.socket) -> bytes:
    """Read a line, and nothing after it; empty at the end."""
    read = b""
    while not read.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte or len(read) >= protocol.LONGEST_LINE:
            return b""
        read += byte
    return read
