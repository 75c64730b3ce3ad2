"""All that listens: a port for TLS, data connections and echoes, and ports of TCP for probes.

The first byte tells what a connection is to be. Nothing is sent on a data connection before its
preamble is proven, and nothing to a datagram that is not. A client that is not authenticated, over
TLS too, has little time and memory, and the number of such connections is limited.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import struct
import time
from collections import Counter
from ipaddress import IPv6Address, ip_address

from mptcplab._core import Error
from mptcplab.engines.field import preamble, probe_protocol
from mptcplab.engines.field.server.limits import network
from mptcplab.engines.field.sockets import TCP_SAVE_SYN

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Awaitable, Callable

    from mptcplab.engines.field.server.limits import Limits
    from mptcplab.engines.field.server.session import Session

# For its first bytes, and for TLS.
PATIENCE_SECONDS = 10.0
# Of TLS, a handshake record (RFC 8446 §5.1).
HANDSHAKE = b"\x16"
# Of HTTP, and how long its head may be.
GET = b"GET"
MOST_REQUEST_BYTES = 4096
BACKLOG = 512
LINE_BYTES = 1 << 16
# Why a connection ended that closed without a byte, as those do which try whether a port is open.
CLOSED = "closed by the other end without a byte"
# After accept() failed for want of descriptors or memory.
REST_SECONDS = 0.2
# The largest datagram that is read, and how many are answered at a time.
DATAGRAM_BYTES = 256
MOST_DATAGRAMS = 64
CONTROL_BYTES = 64

# The most connections outside runs that are remembered.
MOST_OTHERS = 1 << 16

Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Unauthenticated:
    """A connection that is not authenticated, and is counted as such until ``release``."""

    def __init__(self, sock: socket.socket, counted: Counter[str], address: str) -> None:
        #: Its socket, unless a TLS transport or a run owns it.
        self.sock: socket.socket | None = sock
        self._counted = counted
        self._address: str | None = address
        counted[address] += 1

    def release(self) -> None:
        """Stop counting it."""
        if self._address is None:
            return
        self._counted[self._address] -= 1
        if not self._counted[self._address]:
            del self._counted[self._address]
        self._address = None

    def close(self, _: object) -> None:
        """Release and close it, also where its task was cancelled before it began."""
        self.release()
        if self.sock is not None:
            self.sock.close()


class Listeners:
    """All sockets that listen.

    ``serve`` is called with each client of TLS, and what to call once it is authenticated.
    """

    def __init__(
        self,
        limits: Limits,
        tls: ssl.SSLContext,
        serve: Callable[[Client, Callable[[], None]], Awaitable[None]],
    ) -> None:
        #: The sessions that connections may belong to, by their number.
        self.sessions: dict[bytes, Session] = {}
        #: Client ends of the latest connections outside runs, in their order.
        self.others: dict[tuple[str, int], None] = {}
        #: Why connections were turned away, and how often.
        self.turned_away: Counter[str] = Counter()
        self._limits = limits
        self._tls = tls
        self._serve = serve
        self._unauthenticated: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._listeners: list[socket.socket] = []

    def open(self, address: str, port: int) -> None:
        """Listen there, also for echoes; within a running loop.

        Raises:
            Error: It cannot.
        """
        loop = asyncio.get_running_loop()
        listener = listening(address, port, mptcp=True)
        self._track(loop.create_task(self._accept(listener)))
        echoes = _echoes(address, port)
        loop.add_reader(echoes, self._answer, echoes)
        self._listeners += [listener, echoes]

    def open_tcp(self, address: str, port: int) -> None:
        """Listen there for TCP alone; the kernel keeps the SYNs of what comes.

        Raises:
            Error: It cannot.
        """
        listener = listening(address, port, mptcp=False)
        self._track(asyncio.get_running_loop().create_task(self._accept(listener)))
        self._listeners.append(listener)

    async def close(self) -> None:
        """End all tasks, and close all listeners."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for listener in self._listeners:
            asyncio.get_running_loop().remove_reader(listener)
            listener.close()

    def _track(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, listener: socket.socket) -> None:
        async for sock, end in connections(listener):
            self._remember(end)
            limits, one = self._limits, network(end[0])
            if (
                self._unauthenticated.total() >= limits.unauthenticated
                or self._unauthenticated[one] >= limits.unauthenticated_of_one
            ):
                self._turn_away(sock, "too many at once")
                continue
            connection = Unauthenticated(sock, self._unauthenticated, one)
            task = asyncio.create_task(self._handle(sock, connection, end))
            task.add_done_callback(connection.close)
            self._track(task)

    def _remember(self, end: tuple[str, int]) -> None:
        self.others.pop(end, None)
        if len(self.others) >= MOST_OTHERS:
            del self.others[next(iter(self.others))]
        self.others[end] = None

    async def _handle(
        self, sock: socket.socket, connection: Unauthenticated, end: tuple[str, int]
    ) -> None:
        """Serve a connection by what its first byte says it is."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                first = await _peek(sock)
                if first != HANDSHAKE:
                    await self._hand_over(sock, first, end)
                    return
                # The transport owns it from here on, and alone may close its descriptor.
                connection.sock = None
                client = await self._shake_hands(sock)
            await self._serve(client, connection.release)
        except TimeoutError:
            self._turn_away(connection.sock, "said nothing in time")
        except (OSError, Error):
            self._turn_away(connection.sock, "broke off")

    async def _shake_hands(self, sock: socket.socket) -> Client:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=LINE_BYTES)
        protocol = asyncio.StreamReaderProtocol(reader)
        transport, _ = await loop.connect_accepted_socket(
            lambda: protocol,
            sock,
            ssl=self._tls,
            ssl_handshake_timeout=PATIENCE_SECONDS,
            ssl_shutdown_timeout=PATIENCE_SECONDS,
        )
        return reader, asyncio.StreamWriter(transport, protocol, reader, loop)

    async def _hand_over(self, sock: socket.socket, first: bytes, end: tuple[str, int]) -> None:
        """Give a data connection to its session, if it belongs to one."""
        http = first == GET[:1]
        if first != preamble.MAGIC[:1] and not http:
            self._turn_away(sock, "spoke of something else" if first else CLOSED)
            return
        if http:
            request = await request_head(sock, MOST_REQUEST_BYTES)
        else:
            request = await _read(sock, preamble.PREAMBLE_BYTES)
        raw = _proof(request) if http else request
        read = preamble.read_preamble(raw)
        run = None if read is None else self.sessions.get(read[0])
        if read is None or run is None or not preamble.is_proven(raw, run.key):
            self._turn_away(sock, "did not prove itself")
        elif not (run.take_http(read[1], sock, request) if http else run.take(read[1], sock)):
            self._turn_away(sock, "came a second time")
        elif run.captured:
            self.others.pop(end, None)

    def _turn_away(self, sock: socket.socket | None, reason: str) -> None:
        self.turned_away[reason] += 1
        if sock is None:
            return
        with contextlib.suppress(OSError):
            # A reset, and nothing that would wait for an answer.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.close()

    def _answer(self, echoes: socket.socket) -> None:
        """Answer authenticated echoes, from the address that they were sent to."""
        for _ in range(MOST_DATAGRAMS):
            try:
                raw, control, _, peer = echoes.recvmsg(DATAGRAM_BYTES, CONTROL_BYTES)
            except OSError:
                return
            received_ns = time.time_ns()
            echo = preamble.read_echo(raw)
            run = None if echo is None else self.sessions.get(echo.run)
            if echo is None or run is None or echo.received_ns:
                continue
            if not preamble.is_proven(raw, run.key) or not run.may_echo(echo.sequence):
                continue
            answer = preamble.Echo(
                echo.run, echo.sequence, echo.sent_ns, received_ns, time.time_ns()
            )
            from_ = [(level, kind, _source(kind, data)) for level, kind, data in control]
            with contextlib.suppress(OSError):
                echoes.sendmsg([answer.packed(run.key)], from_, 0, peer)


async def connections(
    listener: socket.socket,
) -> AsyncIterator[tuple[socket.socket, tuple[str, int]]]:
    """Accept connections until cancelled; gives each with its client's address and port."""
    while True:
        try:
            sock, peer = await asyncio.get_running_loop().sock_accept(listener)
        except OSError:
            await asyncio.sleep(REST_SECONDS)
            continue
        sock.setblocking(False)
        yield sock, (plain(peer[0]), int(peer[1]))
        # sock_accept may return without a switch of tasks: those of closed connections end here.
        await asyncio.sleep(0)


async def _read(sock: socket.socket, count: int) -> bytes:
    """Read so many bytes, or fewer at the end of the stream."""
    loop = asyncio.get_running_loop()
    raw = b""
    while len(raw) < count and (received := await loop.sock_recv(sock, count - len(raw))):
        raw += received
    return raw


async def request_head(sock: socket.socket, most_bytes: int) -> bytes:
    """Read the head of an HTTP request, or less at the end of the stream or the limit."""
    loop = asyncio.get_running_loop()
    raw = b""
    while b"\r\n\r\n" not in raw and len(raw) < most_bytes:
        received = await loop.sock_recv(sock, most_bytes - len(raw))
        if not received:
            break
        raw += received
    return raw


def _proof(request: bytes) -> bytes:
    """Find the preamble in a request of HTTP."""
    for line in request.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == probe_protocol.PROOF.lower().encode():
            with contextlib.suppress(ValueError):
                return bytes.fromhex(value.strip().decode("ascii", "replace"))
    return b""


def plain(address: str) -> str:
    """Give an IPv4-mapped IPv6 address as the IPv4 address, and others as they are."""
    read = ip_address(address.partition("%")[0])
    return str((isinstance(read, IPv6Address) and read.ipv4_mapped) or read)


async def _peek(sock: socket.socket) -> bytes:
    """Look at the first byte, which stays."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            return sock.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            readable = loop.create_future()
            loop.add_reader(sock, _done, readable)
            try:
                await readable
            finally:
                loop.remove_reader(sock)


def _done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def listening(address: str, port: int, *, mptcp: bool) -> socket.socket:
    """Listen for MPTCP, or for TCP where the kernel has none; ``::`` is for IPv4 too."""
    family = _family(address)
    try:
        protocol = socket.IPPROTO_MPTCP if mptcp else 0
        sock = socket.socket(family, socket.SOCK_STREAM, protocol)
    except OSError:
        sock = socket.socket(family, socket.SOCK_STREAM)
    if not mptcp:
        sock.setsockopt(socket.IPPROTO_TCP, TCP_SAVE_SYN, 1)
    sock.setblocking(False)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((address, port))
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise Error(_refusal("", address, port, error)) from None
    return sock


def _echoes(address: str, port: int) -> socket.socket:
    sock = socket.socket(_family(address), socket.SOCK_DGRAM)
    sock.setblocking(False)
    # One of them: a socket of IPv6 gives both for IPv4, and an answer may have one only.
    if sock.family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
    else:
        # The constant is not in `socket`: linux/in.h.
        sock.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
    try:
        sock.bind((address, port))
    except OSError as error:
        sock.close()
        raise Error(_refusal(" for echoes", address, port, error)) from None
    return sock


def _refusal(what: str, address: str, port: int, error: OSError) -> str:
    """Say that it cannot listen, and what helps."""
    message = f"cannot listen{what} at {address} port {port}: {error.strerror}"
    remedies = {
        errno.EADDRINUSE: "somebody else does, maybe another mptcplab serve: name another port "
        "(--port, --probe-port)",
        errno.EACCES: "ports below 1024 are for root: name another port (--port, --probe-port)",
        errno.EADDRNOTAVAIL: "this host has no such address: see ip address",
    }
    return f"{message}: {remedies[error.errno]}" if error.errno in remedies else message


IP_PKTINFO = 8


def _source(kind: int, data: bytes) -> bytes:
    """Give the address that was asked as the one to answer from, whatever the interface."""
    # in_pktinfo: interface, address; in6_pktinfo: address, interface.
    return bytes(4) + data[4:] if kind == IP_PKTINFO else data[:16] + bytes(4)
