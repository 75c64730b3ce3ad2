"""The server's end of probes: it answers on the connections of one client while that stays."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from mptcplab.engines.field import probe_protocol, sockets
from mptcplab.engines.field.probe_protocol import Request
from mptcplab.engines.field.server.session import Session

# Of a session: the most connections, in all and at a time.
MOST_NUMBERS = 4096
MOST_CONNECTIONS = 256
MOST_SESSION_BYTES = 100 * 10**6
CHUNK_BYTES = 1 << 16
# For the client to read what is sent, and to send what is read.
PATIENCE_SECONDS = 60.0
JOINS_RECEIVED = "MPJoinSynRx"
# The receive buffer of a connection that is not read.
SMALL_BUFFER_BYTES = 16_384
# Between checks whether data was acknowledged.
WITHHELD_STEP_SECONDS = 0.01


class Probing(Session):
    """A client's probes."""

    def __init__(self, most_bytes: int, rate_bits_per_second: int | None) -> None:
        super().__init__()
        #: Bytes that were written and read.
        self.carried = 0
        self._most_bytes = most_bytes
        self._rate = rate_bits_per_second
        self._free_at = 0.0
        self._taken = bytearray(MOST_NUMBERS)
        self._requests = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, number: int, sock: socket.socket) -> bool:
        """Answer the requests on a connection."""
        return self._is_new(number) and self._start(sock, self._answer)

    def take_http(self, number: int, sock: socket.socket, request: bytes) -> bool:
        """Answer with how many HTTP requests there were, and the headers of this one."""
        if not self._is_new(number):
            return False
        self._requests += 1
        body = json.dumps({"request": self._requests, "headers": _headers(request)}).encode()
        head = (
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: public, "
            f"max-age=600\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        return self._start(sock, lambda mine: self._send(mine, head.encode() + body))

    async def end(self) -> None:
        """Close all connections."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _is_new(self, number: int) -> bool:
        if number >= MOST_NUMBERS or self._taken[number] or len(self._tasks) >= MOST_CONNECTIONS:
            return False
        self._taken[number] = 1
        return True

    def _start(self, sock: socket.socket, work: Callable[[socket.socket], Awaitable[None]]) -> bool:
        # The listener's task closes its descriptor; this one is ours.
        mine = sock.dup()
        sock.close()

        async def run() -> None:
            with suppress(OSError, TimeoutError, ValueError):
                await work(mine)

        task = asyncio.get_running_loop().create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: mine.close())
        return True

    async def _answer(self, sock: socket.socket) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        syn = b""
        with suppress(OSError):
            syn = sock.getsockopt(socket.IPPROTO_TCP, sockets.TCP_SAVED_SYN, sockets.SYN_BYTES)
        # No more than the line is read: what follows may have to stay in the kernel.
        while raw := await _line(sock):
            request = probe_protocol.read(raw)
            await self._send(sock, probe_protocol.line(await self._do(sock, request, syn)))
            if request.do == "give":
                block = 0
                for size in probe_protocol.pieces(int(request.amount), CHUNK_BYTES):
                    await self._send(sock, probe_protocol.pattern(size, block))
                    block += size // probe_protocol.BLOCK_BYTES

    async def _do(self, sock: socket.socket, request: Request, syn: bytes) -> dict[str, Any]:
        match request.do:
            case "look":
                return _look(sock, syn)
            case "wait":
                await asyncio.sleep(request.amount)
                return {"waited": request.amount}
            case "take":
                return {"sha256": await self._take(sock, int(request.amount))}
            case "hold":
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER_BYTES)
                await self._send(sock, probe_protocol.line({"holding": True}))
                await asyncio.sleep(request.amount)
                return {"window": sockets.tcp_info(sock).receive_window}
            case "withheld":
                return {"acknowledged_ms": await self._acknowledged_ms(sock, request.amount)}
        return {"echo": True}

    async def _acknowledged_ms(self, sock: socket.socket, seconds: float) -> float | None:
        """Send a little, and return after how long it was acknowledged; ``None``: not in time."""
        # For the client to get ready.
        await asyncio.sleep(probe_protocol.LEAD_SECONDS)
        before = sockets.tcp_info(sock).bytes_acked
        await self._send(sock, probe_protocol.pattern(probe_protocol.WITHHELD_BYTES))
        now = asyncio.get_running_loop().time
        began = now()
        while (took := now() - began) < seconds:
            if sockets.tcp_info(sock).bytes_acked > before:
                return took * 1000
            await asyncio.sleep(WITHHELD_STEP_SECONDS)
        return None

    async def _send(self, sock: socket.socket, data: bytes) -> None:
        await self._spend(len(data))
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.get_running_loop().sock_sendall(sock, data)

    async def _take(self, sock: socket.socket, count: int) -> str:
        digest = hashlib.sha256()
        while count:
            async with asyncio.timeout(PATIENCE_SECONDS):
                piece = await asyncio.get_running_loop().sock_recv(sock, min(count, CHUNK_BYTES))
            if not piece:
                raise ConnectionResetError
            digest.update(piece)
            count -= len(piece)
            await self._spend(len(piece))
        return digest.hexdigest()

    async def _spend(self, count: int) -> None:
        """Count bytes, and wait until so many may have passed."""
        self.carried += count
        if self.carried > self._most_bytes:
            raise ConnectionResetError("the session has carried all that it may")
        if self._rate is not None:
            now = asyncio.get_running_loop().time()
            self._free_at = max(self._free_at, now) + count * 8 / self._rate
            await asyncio.sleep(self._free_at - now)


def _look(sock: socket.socket, syn: bytes) -> dict[str, Any]:
    info = sockets.tcp_info(sock)
    return {
        "syn": syn.hex(),
        "peer": sock.getpeername()[:2],
        "options": info.options,
        "advertised_mss": info.advertised_mss,
        "send_window": info.send_window,
        "receive_window": info.receive_window,
        "mptcp": sockets.speaks_mptcp(sock),
        "joins": sockets.counter(JOINS_RECEIVED),
        "announcements": sockets.announcements(),
        "announced": sockets.announced(sock),
        "accepted": sockets.accepted(sock),
        "further_subflows": sockets.further_subflows(sock),
    }


def _headers(request: bytes) -> list[str]:
    """Give the names of the headers of a request, without the proof."""
    names = [line.partition(b":")[0].decode("ascii", "replace") for line in request.split(b"\r\n")]
    return [name for name in names[1:] if name and name.lower() != probe_protocol.PROOF.lower()]


async def _line(sock: socket.socket) -> bytes:
    """Read a line, and nothing after it; empty at the end."""
    loop = asyncio.get_running_loop()
    line = b""
    while not line.endswith(b"\n"):
        byte = await loop.sock_recv(sock, 1)
        if not byte or len(line) >= probe_protocol.LONGEST_LINE:
            return b""
        line += byte
    return line
