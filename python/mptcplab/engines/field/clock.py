"""How far the clocks of two hosts are apart, by UDP echoes over each path.

As NTP does it (RFC 5905 §8): of four time stamps ((t2 - t1) + (t3 - t4)) / 2 is how far the
server's clock is ahead if both ways take as long; it is wrong by at most half the round-trip time.
The echo with the least round-trip time counts.
"""

from __future__ import annotations

import select
import socket
import time
from dataclasses import dataclass

from mptcplab._core import Error
from mptcplab.engines.field import preamble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from mptcplab.engines.field.routes import Route

INTERVAL_NS = 10_000_000
# For the last answer.
PATIENCE_NS = 1_000_000_000
# Twice what Linux corrects a clock by (MAXFREQ in linux/timex.h).
MOST_DRIFT_PPM = 1000.0


@dataclass(frozen=True)
class Offset:
    """The server's clock less ours, by the echo of this round-trip time."""

    offset_ns: int
    rtt_ns: int
    at_ns: int
    answers: int


@dataclass(frozen=True)
class Line:
    """How far the server's clock is ahead over time: straight, by the echoes of one path."""

    path: str | None = None
    offset_ns: int = 0
    at_ns: int = 0
    drift_ppm: float = 0.0
    #: By how much the offset changed where that is no drift: one of the clocks was set.
    step_ns: int = 0

    def ahead_ns(self, at_ns: int) -> int:
        """Give the offset at a time."""
        return self.offset_ns + round((at_ns - self.at_ns) * self.drift_ppm / 1e6)


def line(clocks: Mapping[str, tuple[Offset | None, Offset | None]]) -> Line:
    """Compute it from what was measured over each path before and after a run.

    The path with the shortest round-trip time is used. The difference of its two offsets is a
    drift where it exceeds the error that each may have; where it is more than clocks drift, one
    of them was set meanwhile, and the offset before that counts.
    """
    both = {name: (one, two) for name, (one, two) in clocks.items() if one and two}
    if both:
        name = min(both, key=lambda path: sum(one.rtt_ns for one in both[path]))
        before, after = both[name]
        elapsed_ns, change_ns = after.at_ns - before.at_ns, after.offset_ns - before.offset_ns
        if abs(change_ns) > (before.rtt_ns + after.rtt_ns) / 2:
            if abs(change_ns) > elapsed_ns * MOST_DRIFT_PPM / 1e6:
                return Line(name, before.offset_ns, before.at_ns, step_ns=change_ns)
            return Line(name, before.offset_ns, before.at_ns, change_ns / elapsed_ns * 1e6)
    known = [(name, one) for name, pair in clocks.items() for one in pair if one is not None]
    if not known:
        return Line()
    name, best = min(known, key=lambda one: one[1].rtt_ns)
    return Line(name, best.offset_ns, best.at_ns)


def offset(
    route: Route, port: int, run: bytes, key: bytes, count: int, first: int = 0
) -> Offset | None:
    """Measure it over one path; ``None`` where nothing was answered.

    ``first`` is the number of the first echo.
    """
    if not count:
        return None
    family = socket.AF_INET6 if ":" in route.remote else socket.AF_INET
    found: list[Offset] = []
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        try:
            name = route.interface.encode()
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, name)
            sock.connect((route.remote, port))
        except OSError as error:
            raise Error(f"{route.interface}: cannot send echoes: {error.strerror}") from None
        sock.setblocking(False)
        next_ns = time.monotonic_ns()
        sent = 0
        until_ns = next_ns + (count - 1) * INTERVAL_NS + PATIENCE_NS
        seen: set[int] = set()
        while len(seen) < count and (now_ns := time.monotonic_ns()) < until_ns:
            if sent < count and now_ns >= next_ns:
                _send(sock, preamble.Echo(run, first + sent, time.time_ns()).packed(key))
                sent += 1
                next_ns += INTERVAL_NS
                continue
            wait_ns = (min(next_ns, until_ns) if sent < count else until_ns) - now_ns
            select.select([sock], [], [], max(wait_ns, 0) / 1e9)
            for answer in _answers(sock, run, key):
                if first <= answer[0] < first + count and answer[0] not in seen:
                    seen.add(answer[0])
                    found.append(answer[1])
    if not found:
        return None
    best = min(found, key=lambda one: one.rtt_ns)
    return Offset(best.offset_ns, best.rtt_ns, best.at_ns, len(found))


def _send(sock: socket.socket, datagram: bytes) -> None:
    try:
        sock.send(datagram)
    except OSError:
        # As good as lost.
        return


def _answers(sock: socket.socket, run: bytes, key: bytes) -> list[tuple[int, Offset]]:
    found: list[tuple[int, Offset]] = []
    while True:
        try:
            raw = sock.recv(preamble.ECHO_BYTES + 1)
        except OSError:
            return found
        received_ns = time.time_ns()
        echo = preamble.read_echo(raw)
        if echo is None or not echo.received_ns or echo.run != run:
            continue
        if preamble.is_proven(raw, key):
            up_ns, down_ns = echo.received_ns - echo.sent_ns, echo.answered_ns - received_ns
            rtt_ns = up_ns - down_ns
            found.append((echo.sequence, Offset((up_ns + down_ns) // 2, rtt_ns, received_ns, 1)))
