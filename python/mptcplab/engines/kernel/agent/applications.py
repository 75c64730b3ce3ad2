"""Applications at either end of a connection, as in simulations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mptcplab.engines.kernel.agent.connection import Connection
from mptcplab.engines.kernel.agent.loop import now, unix_ns


class Ticks:
    """Messages of ``size_bytes`` at a rate, from ``start`` on, before ``stop`` (none: for ever)."""

    def __init__(
        self, start: int, size_bytes: int, rate_bits_per_second: int, stop: int | None
    ) -> None:
        self._start = start
        self._bits = size_bytes * 8
        self._rate = rate_bits_per_second
        self._stop = stop
        self._count = 0

    def next(self) -> int | None:
        """Give the time of the next one; none when it would not be before the stop."""
        at = self._start + self._count * self._bits * 10**9 // self._rate
        return at if self._stop is None or at < self._stop else None

    def due(self, now: int) -> int:
        """Count those whose time has come since this was last asked."""
        before = self._count
        while (at := self.next()) is not None and at <= now:
            self._count += 1
        return self._count - before


# More than any connection takes.
EVERYTHING = 1 << 62


class Application:
    """Serves one connection; by default it reads all data, and finishes when the peer has."""

    # Whether it writes the data of the transfer.
    sends = False
    # What it writes down of each answer to a request, where it asks: Unix time in ns, bytes, ms.
    responses: Sequence[dict[str, float]] = ()
    # Whether a small segment may wait for more data, as in Nagle's algorithm.
    gathers = False

    def begin(self, connection: Connection) -> None:
        """The connection is established."""

    def received(self, connection: Connection, count: int) -> None:
        """So many bytes were read."""

    def ended(self, connection: Connection) -> None:
        """The peer writes nothing more."""
        connection.finish()


class Sender(Application):
    """Writes the data of the transfer, and finishes by itself, whatever the peer does."""

    sends = True

    def ended(self, connection: Connection) -> None:
        """Go on writing."""


class Bulk(Sender):
    """Writes as fast as the connection takes it: so many bytes, or for so long, or for ever."""

    gathers = True

    def __init__(self, size_bytes: int | None, duration_ns: int | None) -> None:
        self._size_bytes = size_bytes
        self._duration_ns = duration_ns

    def begin(self, connection: Connection) -> None:
        """Write the data."""
        connection.write(EVERYTHING if self._size_bytes is None else self._size_bytes)
        if self._size_bytes is not None:
            connection.finish()
        elif self._duration_ns is not None:
            connection.loop.after(self._duration_ns, connection.finish_here)


class Constant(Sender):
    """Writes messages of one size at a constant rate; what the connection does not take waits."""

    def __init__(self, rate_bits_per_second: int, message_bytes: int, duration_ns: int) -> None:
        self._rate_bits_per_second = rate_bits_per_second
        self._message_bytes = message_bytes
        self._duration_ns = duration_ns

    def begin(self, connection: Connection) -> None:
        """Write the first message."""
        start = now()
        stop = start + self._duration_ns
        ticks = Ticks(start, self._message_bytes, self._rate_bits_per_second, stop)
        self._tick(connection, ticks)

    def _tick(self, connection: Connection, ticks: Ticks) -> None:
        if connection.closed is not None:
            return
        connection.write(self._message_bytes * ticks.due(now()))
        if (after := ticks.next()) is None:
            connection.finish()
        else:
            connection.loop.at(after, lambda: self._tick(connection, ticks))


class Idle(Sender):
    """Is silent for a while, then sends a message, which arrives if the connection still works."""

    def __init__(self, duration_ns: int, message_bytes: int) -> None:
        self._duration_ns = duration_ns
        self._message_bytes = message_bytes

    def begin(self, connection: Connection) -> None:
        """Start the wait."""
        connection.loop.after(self._duration_ns, lambda: self._write(connection))

    def _write(self, connection: Connection) -> None:
        if connection.closed is None:
            connection.write(self._message_bytes)
            connection.finish()


class Requester(Application):
    """Asks, waits for the whole answer, thinks, asks again; finishes after its last answer."""

    def __init__(
        self, request_bytes: int, response_bytes: int, requests: int, think_ns: int
    ) -> None:
        self._request_bytes = request_bytes
        self._response_bytes = response_bytes
        self._requests = requests
        self._think_ns = think_ns
        self._awaited = 0
        self.responses: list[dict[str, float]] = []

    def begin(self, connection: Connection) -> None:
        """Ask for the first time."""
        self._ask(connection)

    def received(self, connection: Connection, count: int) -> None:
        """An answer, or a part of it."""
        if self._awaited == 0:
            return
        self._awaited = max(0, self._awaited - count)
        asked = self.responses[-1]
        after_ms = (unix_ns() - asked["at_ns"]) / 1e6
        asked.setdefault("first_data_ms", after_ms)
        if self._awaited == 0:
            asked["response_time_ms"] = after_ms
        if self._awaited == 0 and self._requests == 0:
            connection.finish()
        elif self._awaited == 0:
            connection.loop.after(self._think_ns, lambda: self._ask(connection))

    def _ask(self, connection: Connection) -> None:
        self._requests -= 1
        self._awaited = self._response_bytes
        sizes = {"request_bytes": self._request_bytes, "response_bytes": self._response_bytes}
        self.responses.append({"at_ns": unix_ns(), **sizes})
        connection.write(self._request_bytes)

    def ended(self, connection: Connection) -> None:
        """It finishes after its last answer, which may be late."""


class Responder(Application):
    """Answers each request as soon as it is whole, and finishes when the peer has."""

    sends = True

    def __init__(self, request_bytes: int, response_bytes: int) -> None:
        self._request_bytes = request_bytes
        self._response_bytes = response_bytes
        self._received_bytes = 0

    def received(self, connection: Connection, count: int) -> None:
        """A request, or a part of it."""
        answers, self._received_bytes = divmod(self._received_bytes + count, self._request_bytes)
        connection.write(answers * self._response_bytes)


# Where the lowest bitrate ends and where the highest begins, as parts of the buffer in 240ths.
RESERVOIR = 90
UPPER = 216
WHOLE = 240


class Player(Application):
    """Plays adaptive video: asks for segment after segment, each of the bitrate its buffer allows.

    The rule is BBA-0 (Huang et al., SIGCOMM 2014, Algorithm 1), as in simulations. A segment of
    ``2**step`` times the lowest bitrate is asked for by as many requests at once.
    """

    def __init__(self, transfer: dict[str, Any]) -> None:
        self._segment_ns = transfer["segment_ns"]
        self._startup_ns = transfer["startup_ns"]
        self._buffer_ns = transfer["buffer_ns"]
        self._request_bytes, self._lowest_bytes = requests_of_video(transfer)
        self._highest: int = transfer["bitrates"] - 1
        # Segments still to be asked for.
        self._left = transfer["duration_ns"] // self._segment_ns
        self._step = 0
        # Bytes of the segment that are still to come.
        self._awaited = 0
        self._buffered_ns = 0
        # The time of that, and whether it has been playing since.
        self._at = 0
        self._playing = False

    def begin(self, connection: Connection) -> None:
        """Ask for the first segment."""
        self._at = now()
        self._ask(connection)

    def received(self, connection: Connection, count: int) -> None:
        """A segment, or a part of it."""
        if self._awaited == 0:
            return
        self._awaited = max(0, self._awaited - count)
        if self._awaited == 0:
            self._add_segment(connection)

    def _add_segment(self, connection: Connection) -> None:
        self._play_until(now())
        self._buffered_ns += self._segment_ns
        self._playing = self._playing or self._buffered_ns >= self._startup_ns
        if self._left == 0:
            connection.finish()
            return
        over_ns = self._buffered_ns + self._segment_ns - self._buffer_ns
        if over_ns > 0:
            connection.loop.after(over_ns, lambda: self._ask(connection))
        else:
            self._ask(connection)

    def _ask(self, connection: Connection) -> None:
        if connection.closed is not None:
            return
        self._play_until(now())
        self._step = self._choose()
        self._left -= 1
        self._awaited = self._lowest_bytes << self._step
        connection.write(self._request_bytes << self._step)

    def _play_until(self, at: int) -> None:
        if self._playing:
            self._buffered_ns -= at - self._at
            if self._buffered_ns < 0:
                self._playing, self._buffered_ns = False, 0
        self._at = at

    def _choose(self) -> int:
        """Choose by Algorithm 1, its rates as multiples of the lowest."""
        reservoir_ns = self._buffer_ns // WHOLE * RESERVOIR
        upper_ns = self._buffer_ns // WHOLE * UPPER
        if self._buffered_ns <= reservoir_ns:
            return 0
        if self._buffered_ns >= upper_ns:
            return self._highest
        length = upper_ns - reservoir_ns
        line = length + (self._buffered_ns - reservoir_ns) * ((1 << self._highest) - 1)
        steps = range(self._highest + 1)
        if line >= length << min(self._step + 1, self._highest):
            return max((step for step in steps if length << step < line), default=0)
        if line <= length << max(self._step - 1, 0):
            return min((step for step in steps if length << step > line), default=self._highest)
        return self._step

    def ended(self, connection: Connection) -> None:
        """It finishes after its last segment, which may be late."""


def requests_of_video(transfer: dict[str, Any]) -> tuple[int, int]:
    """Give the bytes of a request and of its answer, a segment of the lowest bitrate."""
    bits = transfer["lowest_bitrate_bits_per_second"] * transfer["segment_ns"]
    return transfer["request_bytes"], bits // (8 * 10**9)


def at(end: str, transfer: dict[str, Any]) -> Application:
    """Make the application of a plan's ``transfer`` at the ``"client"`` or the ``"server"``."""
    sends = (end == "client") == (transfer["direction"] == "up")
    kind = transfer["application"]
    if kind == "request-response":
        sizes = transfer["request_bytes"], transfer["response_bytes"]
        if sends:
            return Responder(*sizes)
        return Requester(*sizes, transfer["requests"], transfer["think_ns"])
    if kind == "video":
        return Responder(*requests_of_video(transfer)) if sends else Player(transfer)
    if not sends:
        return Application()
    if kind == "constant-bit-rate":
        rate = transfer["rate_bits_per_second"]
        return Constant(rate, transfer["message_bytes"], transfer["duration_ns"])
    if kind == "idle":
        return Idle(transfer["duration_ns"], transfer["message_bytes"])
    return Bulk(transfer.get("size_bytes"), transfer.get("duration_ns"))
