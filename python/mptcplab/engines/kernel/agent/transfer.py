"""The work of an agent: a transfer, datagrams, or watching the transfers of others."""

from __future__ import annotations

import socket
from collections.abc import Callable

from mptcplab._core import Error
from mptcplab.engines.kernel.agent import applications, sockets
from mptcplab.engines.kernel.agent.allowance import Allowance
from mptcplab.engines.kernel.agent.applications import Ticks
from mptcplab.engines.kernel.agent.connection import COMPLETE, Connection, part
from mptcplab.engines.kernel.agent.job import Job
from mptcplab.engines.kernel.agent.loop import IN, Loop, now

# The most reasons that are listed.
NAMED = 3


class Transfer:
    """All connections of a job."""

    def __init__(self, loop: Loop, job: Job, over: Callable[[], None]) -> None:
        self.connections: list[Connection] = []
        self.failure: str | None = None
        # Called with a connection when it is established, and before it is closed.
        self.opened: Callable[[Connection], None] = ignore
        self.closing: Callable[[Connection], None] = ignore
        self._given_up = False
        self._loop = loop
        self._job = job
        self._over = over
        self._listener: socket.socket | None = None
        self._allowance = None
        if job.most_bytes is not None or job.most_bits_per_second is not None:
            self._allowance = Allowance(job.most_bytes, job.most_bits_per_second, self._spent)
        if job.handed is not None:
            self._listener = socket.socket(fileno=job.handed)
            self._listener.setblocking(False)
            self.congestion_control = job.congestion_control
        elif job.listen is not None:
            self._listener = sockets.listening(job.listen, job.congestion_control, mptcp=job.mptcp)
            self.congestion_control = sockets.congestion_control(self._listener)
        else:
            # Refuses a congestion control before anything starts.
            with sockets.stream(self._remote(), job.congestion_control, mptcp=job.mptcp) as probe:
                self.congestion_control = sockets.congestion_control(probe)

    def start(self) -> None:
        """Open the connections, or accept them from now on."""
        if self._given_up:
            return
        if self._listener is not None:
            handler = self._accept if self._job.handed is None else self._take
            self._loop.watch(self._listener.fileno(), IN, handler)
            return
        connect = self._job.connect or {}
        preambles = map(bytes.fromhex, connect.get("preambles", [""] * self._job.connections))
        for preamble in preambles:
            try:
                sock = sockets.opening(
                    connect.get("local"),
                    self._remote(),
                    self._job.congestion_control,
                    mptcp=self._job.mptcp,
                    device=connect.get("device"),
                )
            except Error as error:
                self.failure = str(error)
                self._over()
                return
            self._serve(sock, opening=True, preamble=preamble)

    def abort(self) -> None:
        """Give up all open connections."""
        self._given_up = True
        if self._listener is not None:
            self._loop.forget(self._listener.fileno())
            self._listener.close()
            self._listener = None
        for connection in self.connections:
            connection.abort()

    @property
    def sent(self) -> int:
        """Bytes that were written."""
        return sum(connection.written for connection in self.connections)

    @property
    def received(self) -> int:
        """Bytes that were read."""
        return sum(connection.read for connection in self.connections)

    @property
    def corrupt(self) -> int:
        """Bytes among them that were not what the peer wrote."""
        return sum(connection.corrupt_bytes for connection in self.connections)

    @property
    def finished(self) -> bool:
        """All that was written was acknowledged, at all connections, and the peers finished."""
        done = [connection.closed == COMPLETE for connection in self.connections]
        return self.failure is None and len(done) == self._job.connections and all(done)

    def marks(self) -> list[dict[str, int | None]]:
        """Give when each connection was opened, and when its application wrote and read last."""
        return [one.marks for one in self.connections]

    def responses(self) -> list[dict[str, float]]:
        """Give what the applications wrote down of the answers to their requests."""
        return [row for one in self.connections for row in one.application.responses]

    def reason(self) -> str:
        """Say what connections wait for, or that all is complete."""
        if self.failure is not None:
            return self.failure
        lacking = [lacks for one in self.connections if (lacks := one.lacks()) is not None]
        if missing := self._job.connections - len(self.connections):
            lacking.append(f"waits for {missing} connection{'s' * (missing > 1)} to come")
        if len(lacking) > NAMED + 1:
            return f"{lacking[0]}, and {len(lacking) - 1} more wait"
        return "; ".join(lacking) or COMPLETE

    def _spent(self) -> None:
        """Give up: the allowance is used up."""
        if self.failure is None:
            self.failure = f"was given up after {self._job.most_bytes} bytes, the most allowed"
            self._loop.at(now(), self.abort)

    def _remote(self) -> sockets.SocketAddress:
        connect = self._job.connect or {}
        remote: sockets.SocketAddress = connect["remote"]
        return sockets.mapped(remote) if connect.get("both_versions") else remote

    def _accept(self, mask: int) -> None:
        del mask
        while self._listener is not None:
            try:
                sock, _ = self._listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            sock.setblocking(False)
            self._serve(sock, opening=False)

    def _take(self, mask: int) -> None:
        """Take connections that are handed to us, one in each message."""
        del mask
        while self._listener is not None:
            try:
                _, files, _, _ = socket.recv_fds(self._listener, 1, 1)
            except BlockingIOError:
                return
            if not files:
                # The other end is closed.
                self._loop.forget(self._listener.fileno())
                return
            sock = socket.socket(fileno=files[0])
            sock.setblocking(False)
            if self._job.congestion_control is not None:
                sockets.choose(sock, self._job.congestion_control)
            self._serve(sock, opening=False)

    def _serve(self, sock: socket.socket, *, opening: bool, preamble: bytes = b"") -> None:
        if self._job.keep_alive:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        application = applications.at(self._job.end, self._job.transfer)
        connection = Connection(
            self._loop,
            sock,
            application,
            self.opened,
            self._closed,
            opening=opening,
            preamble=preamble,
            allowance=self._allowance,
        )
        self.connections.append(connection)

    def _closed(self, connection: Connection) -> None:
        self.closing(connection)
        # Checked once the connection has left the loop.
        self._loop.at(now(), self._look)

    def _look(self) -> None:
        closed = [connection.closed is not None for connection in self.connections]
        if len(closed) == self._job.connections and all(closed):
            self._over()


def ignore(connection: Connection) -> None:
    """Do nothing."""


IPV4_AND_UDP_BYTES = 28
IPV6_AND_UDP_BYTES = 48
MOST_BYTES = 1 << 16

_received = memoryview(bytearray(MOST_BYTES))


class Datagrams:
    """Sends IP packets of one size at a rate of their bits, or counts those that arrive."""

    finished = True
    corrupt = 0
    congestion_control = None

    def __init__(self, loop: Loop, job: Job) -> None:
        self.sent = self.received = 0
        self._loop = loop
        self._job = job
        connect = job.connect or {}
        self._socket = sockets.datagrams(job.listen or connect.get("local"), connect.get("remote"))
        self._stopped = False
        self._payload = memoryview(b"")
        self._ticks: Ticks | None = None
        # As of a transfer; datagrams have no connections.
        self.opened = self.closing = ignore

    def start(self) -> None:
        """Send from now on, or count what arrives."""
        if self._stopped:
            return
        if self._job.connect is None:
            self._loop.watch(self._socket.fileno(), IN, self._receive)
            return
        packet_bytes = self._job.transfer["packet_bytes"]
        is_ipv6 = ":" in self._socket.getsockname()[0]
        headers_bytes = IPV6_AND_UDP_BYTES if is_ipv6 else IPV4_AND_UDP_BYTES
        self._payload = part(0, packet_bytes - headers_bytes)
        rate, start, stop_ns = self._job.transfer["rate_bits_per_second"], now(), self._job.stop_ns
        stop = None if stop_ns is None else start + stop_ns - self._job.start_ns
        self._ticks = Ticks(start, packet_bytes, rate, stop)
        self._send()

    def marks(self) -> list[dict[str, int | None]]:
        """Datagrams have no connections."""
        return []

    def abort(self) -> None:
        """Send only what is due by now; what arrives is still counted."""
        self._send()
        self._stopped = True

    def reason(self) -> str:
        """Give ``COMPLETE``: nothing waits for datagrams."""
        return COMPLETE

    def _send(self) -> None:
        if self._ticks is None or self._stopped:
            return
        for _ in range(self._ticks.due(now())):
            try:
                self.sent += self._socket.send(self._payload)
            except OSError:
                # A full queue loses datagrams, and so does a peer that is not there yet.
                continue
        if (after := self._ticks.next()) is not None:
            self._loop.at(after, self._send)

    def _receive(self, mask: int) -> None:
        del mask
        try:
            while True:
                self.received += self._socket.recv_into(_received)
        except OSError:
            return


class Watching:
    """Watches others, with the interface of a transfer."""

    finished = True
    sent = received = corrupt = 0
    congestion_control = None

    def __init__(self) -> None:
        self.opened = self.closing = ignore

    def start(self) -> None:
        """Do nothing: others transfer."""

    def marks(self) -> list[dict[str, int | None]]:
        """Connections of others have no marks."""
        return []

    def abort(self) -> None:
        """Do nothing: others go on."""

    def reason(self) -> str:
        """Give ``COMPLETE``: nothing waits."""
        return COMPLETE
