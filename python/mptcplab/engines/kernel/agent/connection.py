"""One end of a connection: what its application writes and reads, and how it ended."""

from __future__ import annotations

import fcntl
import os
import select
import socket
import struct
import sys

from mptcplab.engines.kernel.agent.loop import IN, OUT, now, unix_ns
from mptcplab.engines.kernel.agent.sockets import reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mptcplab.engines.kernel.agent.allowance import Allowance
    from mptcplab.engines.kernel.agent.applications import Application
    from mptcplab.engines.kernel.agent.loop import Loop

# The series repeats after as many words: 0xffff does not occur, 0 does.
WORDS = 65_535
PERIOD = 2 * WORDS
# The most bytes that are compared or written at once.
CHUNK = 1 << 20

_STREAM = struct.pack(f">{WORDS}H", *range(WORDS)) * (CHUNK // PERIOD + 2)
_VIEW = memoryview(_STREAM)


def part(position: int, length: int) -> memoryview:
    """Give up to ``CHUNK`` bytes of the stream, from ``position`` on."""
    start = position % PERIOD
    return _VIEW[start : start + min(length, CHUNK)]


def corrupt_bytes(position: int, received: memoryview) -> int:
    """Count the bytes that are not those of the stream from ``position`` on."""
    # Compares as memcmp does; memoryviews would be compared item by item.
    if _STREAM.startswith(received, position % PERIOD):
        return 0
    expected = part(position, len(received))
    differences = int.from_bytes(expected, "big") ^ int.from_bytes(received, "big")
    return len(received) - differences.to_bytes(len(received), "big").count(0)


# ioctl: bytes written that the peer has not acknowledged, its end counted as one.
SIOCOUTQ = 0x5411
# The interval at which that is read: doubling from the first to the second.
ASK_NS = 500_000
ASK_AT_MOST_NS = 20_000_000
# Writes in a row before other connections are served.
MOST_WRITES = 4
COMPLETE = "complete"
ABORTED = "aborted"

_received = memoryview(bytearray(CHUNK))


class Connection:
    """One end of a connection. Its socket is watched from the start, also while it opens."""

    def __init__(
        self,
        loop: Loop,
        sock: socket.socket,
        application: Application,
        begun: Callable[[Connection], None],
        over: Callable[[Connection], None],
        *,
        opening: bool,
        preamble: bytes = b"",
        allowance: Allowance | None = None,
    ) -> None:
        self.loop = loop
        self.sock = sock
        self.connected_ns: int | None = None
        self.written = 0
        self.read = 0
        self.corrupt_bytes = 0
        # Nothing more is written, all of it and its end are acknowledged, the peer writes no more.
        self.finished = self.delivered = self.peer_finished = False
        # How it ended, in words.
        self.closed: str | None = None
        self._awaited: str | None = None
        self.application = application
        # Is sent before all that the application writes.
        self._preamble = preamble
        self._allowance = allowance
        self._is_paused = False
        self._begun = begun
        self._over = over
        self._backlog = 0
        self._finishing = False
        self._mask = OUT if opening else IN
        #: Unix time in ns: of its first attempt (at a server: when it was taken), of the first and
        #: the last byte read, and of the acknowledgement of all that was written.
        self.marks: dict[str, int | None] = {
            "begun_ns": unix_ns(),
            "first_read_ns": None,
            "last_read_ns": None,
            "delivered_ns": None,
        }
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, not application.gathers)
        loop.watch(sock.fileno(), self._mask, self._on)
        if not opening:
            self._begin()

    def write(self, count: int) -> None:
        """Write so many more bytes, as fast as the socket takes them."""
        self._backlog += count
        self._flush()

    def finish(self) -> None:
        """Write what waits, and nothing more."""
        self._finishing = True
        self._flush()

    def finish_here(self) -> None:
        """Write nothing more, not even what waits."""
        self._backlog = 0
        self.finish()

    def abort(self) -> None:
        """Give it up at once, with a reset."""
        if self.closed is None:
            # Closed with a reset: on, and no time to linger.
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            # The reason is what it waited for, not that it was stopped.
            self._awaited = self.lacks()
            self._close(ABORTED)

    def lacks(self) -> str | None:
        """Say what it waits for, or why it failed; ``None`` where all is done."""
        if self.closed == COMPLETE:
            return None
        if self.closed == ABORTED:
            return self._awaited
        if self.closed is not None:
            done = f"{self.written} bytes written and {self.read} read"
            return f"gave up after {done}: {self.closed}"
        if self.connected_ns is None:
            return "waits for the connection to open"
        if self.application.sends and not self.finished:
            return f"had {self.written} bytes taken and more to write"
        if self.finished and not self.delivered:
            return f"waits for its {self.written} bytes to be acknowledged"
        return f"has read {self.read} bytes and waits for the end of data"

    def _on(self, mask: int) -> None:
        try:
            if self.connected_ns is None:
                self._opened()
            elif mask & IN or not mask & OUT:
                self._receive()
            if mask & OUT and self.closed is None:
                self._flush()
        except OSError as error:
            self._close(reason(error))

    def _opened(self) -> None:
        if error := self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(error, os.strerror(error))
        self._begin()

    def _begin(self) -> None:
        self.connected_ns = now()
        self._begun(self)
        if self._preamble:
            # It is shorter than any send buffer.
            self.sock.send(self._preamble)
        self._wait_for()
        self.application.begin(self)

    def _receive(self) -> None:
        most = self._allowed(CHUNK)
        if not most:
            return
        try:
            count = self.sock.recv_into(_received, most)
        except BlockingIOError:
            return
        if count:
            self._used(count)
            self.marks["last_read_ns"] = at_ns = unix_ns()
            if self.marks["first_read_ns"] is None:
                self.marks["first_read_ns"] = at_ns
            self.corrupt_bytes += corrupt_bytes(self.read, _received[:count])
            self.read += count
            self.application.received(self, count)
        elif not self.peer_finished:
            self.peer_finished = True
            self._wait_for()
            self.application.ended(self)
            self._done()

    def _flush(self) -> None:
        """Write what the socket takes."""
        if self.connected_ns is None or self.closed is not None:
            return
        try:
            for _ in range(MOST_WRITES):
                if not self._backlog:
                    break
                block = part(self.written, self._allowed(self._backlog))
                if not block:
                    return
                count = self.sock.send(block)
                self._used(count)
                self.written += count
                self._backlog -= count
                if count < len(block):
                    break
        except BlockingIOError:
            pass
        except OSError as error:
            self._close(reason(error))
            return
        if self._finishing and not self._backlog and not self.finished:
            self.finished = True
            self._shut()
        self._wait_for()

    def _allowed(self, count: int) -> int:
        """Return how many of so many bytes may pass now; where none may, pause."""
        if self._allowance is None:
            return count
        most = self._allowance.at_most(count)
        if not most and not self._is_paused:
            self._is_paused = True
            self._wait_for()
            if (wait_ns := self._allowance.wait_ns()) is not None:
                self.loop.after(wait_ns, self._resume)
        return most

    def _used(self, count: int) -> None:
        if self._allowance is not None:
            self._allowance.use(count)

    def _resume(self) -> None:
        if self.closed is None:
            self._is_paused = False
            self._wait_for()

    def _shut(self) -> None:
        try:
            self.sock.shutdown(socket.SHUT_WR)
        except OSError as error:
            self._close(reason(error))
        else:
            self._ask(ASK_NS)

    def _ask(self, interval_ns: int) -> None:
        """Check, and check again, whether the peer has acknowledged everything."""
        if self.closed is not None:
            return
        left = fcntl.ioctl(self.sock, SIOCOUTQ, bytes(4))
        if int.from_bytes(left, sys.byteorder) == 0:
            self.delivered = True
            self.marks["delivered_ns"] = unix_ns()
            self._done()
        else:
            longer = min(2 * interval_ns, ASK_AT_MOST_NS)
            self.loop.after(interval_ns, lambda: self._ask(longer))

    def _done(self) -> None:
        if self.delivered and self.peer_finished and self.closed is None:
            error = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            self._close(os.strerror(error) if error else COMPLETE)

    def _close(self, reason: str) -> None:
        if self.closed is None:
            self.closed = reason
            self._over(self)
            self.loop.forget(self.sock.fileno())
            self.sock.close()

    def _wait_for(self) -> None:
        """Give the events to wait for; after the peer's end only errors still come."""
        mask = (0 if self.peer_finished else IN) | (OUT if self._backlog else 0)
        if self._is_paused:
            mask = 0
        if mask != self._mask and self.closed is None:
            self._mask = mask
            self.loop.change(self.sock.fileno(), mask or select.EPOLLET)
