"""The transfer at one end: opens or accepts its connections, and knows when all is done."""

from __future__ import annotations

import socket

from mptcplab._core import Error
from mptcplab.engines.kernel.agent import applications, sockets
from mptcplab.engines.kernel.agent.connection import COMPLETE, Connection
from mptcplab.engines.kernel.agent.loop import IN, now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mptcplab.engines.kernel.agent.job import Job
    from mptcplab.engines.kernel.agent.loop import Loop

# So many who wait are named.
NAMED = 3


class Transfer:
    """All connections of a job."""

    def __init__(self, loop: Loop, job: Job, over: Callable[[], None]) -> None:
        self.connections: list[Connection] = []
        self.failure: str | None = None
        # Told of a connection when it is established, and before it goes.
        self.opened: Callable[[Connection], None] = nobody
        self.closing: Callable[[Connection], None] = nobody
        self._given_up = False
        self._loop = loop
        self._job = job
        self._over = over
        self._listener: socket.socket | None = None
        if job.listen is not None:
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
            self._loop.watch(self._listener.fileno(), IN, self._accept)
            return
        connect = self._job.connect or {}
        for _ in range(self._job.connections):
            try:
                sock = sockets.opening(
                    connect.get("local"),
                    self._remote(),
                    self._job.congestion_control,
                    mptcp=self._job.mptcp,
                )
            except Error as error:
                self.failure = str(error)
                self._over()
                return
            self._serve(sock, opening=True)

    def abort(self) -> None:
        """Give up what still goes on."""
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
        return len(done) == self._job.connections and all(done)

    def reason(self) -> str:
        """Say who waits for what, or that all is complete."""
        if self.failure is not None:
            return self.failure
        lacking = [lacks for one in self.connections if (lacks := one.lacks()) is not None]
        if missing := self._job.connections - len(self.connections):
            lacking.append(f"waits for {missing} connection{'s' * (missing > 1)} to come")
        if len(lacking) > NAMED + 1:
            return f"{lacking[0]}, and {len(lacking) - 1} more wait"
        return "; ".join(lacking) or COMPLETE

    def _remote(self) -> sockets.Place:
        place: sockets.Place = (self._job.connect or {})["remote"]
        return place

    def _accept(self, mask: int) -> None:
        del mask
        while self._listener is not None:
            try:
                sock, _ = self._listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            sock.setblocking(False)
            self._serve(sock, opening=False)

    def _serve(self, sock: socket.socket, *, opening: bool) -> None:
        if self._job.keep_alive:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        application = applications.at(self._job.end, self._job.transfer)
        made = Connection(self._loop, sock, application, self.opened, self._closed, opening=opening)
        self.connections.append(made)

    def _closed(self, connection: Connection) -> None:
        self.closing(connection)
        # Told when the connection has said goodbye to the loop.
        self._loop.at(now(), self._look)

    def _look(self) -> None:
        closed = [connection.closed is not None for connection in self.connections]
        if len(closed) == self._job.connections and all(closed):
            self._over()


def nobody(connection: Connection) -> None:
    """Nobody is told."""
