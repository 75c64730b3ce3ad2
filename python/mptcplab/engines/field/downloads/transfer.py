"""One download: so many bytes as fast as limits allow; slow readers are cut off."""

from __future__ import annotations

import asyncio
import fcntl
import socket
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from mptcplab.engines.kernel.agent.connection import SIOCOUTQ, part

CHUNK_BYTES = 1 << 16
# A download that stalls for so long, or is slower than this on the whole, is given up.
STALL_SECONDS = 30.0
LEAST_BYTES_PER_SECOND = 4_000
# For the client to close, too.
CLOSE_SECONDS = 10.0
LOOK_SECONDS = 0.1
COMPLETE = "complete"


class Rate:
    """How fast all downloads together may send."""

    def __init__(self, bits_per_second: int | None) -> None:
        self._rate = bits_per_second
        self._free_at = 0.0

    async def wait(self, count: int) -> None:
        """Wait until so many bytes may be sent."""
        if self._rate is not None:
            await asyncio.sleep(self.seconds(count, time.monotonic()))

    def seconds(self, count: int, now: float) -> float:
        """Return how long so many bytes have to wait from now on, and count them as sent."""
        if self._rate is None:
            return 0.0
        start = max(self._free_at, now)
        self._free_at = start + count * 8 / self._rate
        return start - now


@dataclass
class Sent:
    """The result of sending."""

    #: Bytes of the body, and of the head, that were written.
    written: int = 0
    head_bytes: int = 0
    #: Not acknowledged when it ended.
    unacknowledged: int = 0
    reason: str = COMPLETE
    #: When the last acknowledgement came, or it was given up (Unix time).
    ended_ns: int = 0

    @property
    def delivered(self) -> int:
        """Bytes that the client's host acknowledged, the head among them."""
        return max(0, self.head_bytes + self.written - self.unacknowledged)


async def send(
    sock: socket.socket, head: bytes, count: int, rate: Rate, look: Callable[[], object]
) -> Sent:
    """Send a head and so many bytes, and close; ``look`` is called now and then."""
    sent = Sent()
    looking = asyncio.ensure_future(_look(look))
    limit = STALL_SECONDS + (len(head) + count) / LEAST_BYTES_PER_SECOND
    try:
        async with asyncio.timeout(limit):
            await _all(sock, memoryview(head))
            sent.head_bytes = len(head)
            while sent.written < count:
                block = part(sent.written, min(CHUNK_BYTES, count - sent.written))
                await rate.wait(len(block))
                await _all(sock, block)
                sent.written += len(block)
        sock.shutdown(socket.SHUT_WR)
        await _closed(sock, sent)
    except TimeoutError:
        sent.reason = f"the client took {sent.written} bytes, and no more in time"
    except OSError as error:
        sent.reason = f"the client took {sent.written} bytes: {error.strerror or error}"
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
        sent.unacknowledged = _unacknowledged(sock)
        sent.ended_ns = sent.ended_ns or time.time_ns()
    if sent.reason != COMPLETE:
        # Close with a reset: what is left in the buffer is of no use.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return sent


async def _all(sock: socket.socket, block: memoryview) -> None:
    async with asyncio.timeout(STALL_SECONDS):
        await asyncio.get_running_loop().sock_sendall(sock, block)


async def _closed(sock: socket.socket, sent: Sent) -> None:
    """Wait for the last acknowledgement, and for the client's end."""
    until = time.monotonic() + STALL_SECONDS
    while _unacknowledged(sock):
        if time.monotonic() > until:
            sent.reason = "the client's host did not acknowledge all"
            return
        await asyncio.sleep(LOOK_SECONDS / 5)
    sent.ended_ns = time.time_ns()
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            # What it still sends is discarded.
            while await asyncio.get_running_loop().sock_recv(sock, CHUNK_BYTES):
                pass
    except (TimeoutError, OSError):
        return


async def _look(look: Callable[[], object]) -> None:
    while True:
        look()
        await asyncio.sleep(LOOK_SECONDS)


def _unacknowledged(sock: socket.socket) -> int:
    try:
        left = fcntl.ioctl(sock, SIOCOUTQ, bytes(4))
    except OSError:
        return 0
    return int.from_bytes(left, sys.byteorder)
