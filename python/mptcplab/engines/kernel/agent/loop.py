"""Waits for sockets and deadlines, and calls who asked for them."""

from __future__ import annotations

import heapq
import select
import time
from collections.abc import Callable
from itertools import count

IN = select.EPOLLIN
OUT = select.EPOLLOUT


class Loop:
    """One thread, all times monotonic."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._handlers: dict[int, Callable[[int], None]] = {}
        self._calls: list[tuple[int, int, Callable[[], None]]] = []
        self._order = count()
        self._runs = False

    def watch(self, fd: int, mask: int, handler: Callable[[int], None]) -> None:
        """Call ``handler`` with what is possible, from now on."""
        self._epoll.register(fd, mask)
        self._handlers[fd] = handler

    def change(self, fd: int, mask: int) -> None:
        """Wait for something else."""
        self._epoll.modify(fd, mask)

    def forget(self, fd: int) -> None:
        """Wait for it no longer; before it is closed."""
        if self._handlers.pop(fd, None) is not None:
            self._epoll.unregister(fd)

    def at(self, when_ns: int, call: Callable[[], None]) -> None:
        """Call once, not before a time."""
        heapq.heappush(self._calls, (when_ns, next(self._order), call))

    def after(self, delay_ns: int, call: Callable[[], None]) -> None:
        """Call once, after a time."""
        self.at(now() + delay_ns, call)

    def stop(self) -> None:
        """Return from ``run``."""
        self._runs = False

    def run(self) -> None:
        """Go on until ``stop`` is called."""
        self._runs = True
        while self._runs:
            self._wait()
            for fd, mask in self._epoll.poll(0):
                # An earlier one of the same round may have closed it.
                if (handler := self._handlers.get(fd)) is not None:
                    handler(mask)
            while self._calls and self._calls[0][0] <= now():
                heapq.heappop(self._calls)[2]()

    def _wait(self) -> None:
        """Until something is possible or due; epoll itself counts whole milliseconds only."""
        timeout = max(0, self._calls[0][0] - now()) / 1e9 if self._calls else None
        select.select([self._epoll], [], [], timeout)


def now() -> int:
    """Give the monotonic time."""
    return time.monotonic_ns()


# Of the monotonic time in Unix time, as the clock was when the agent began.
EPOCH_NS = time.time_ns() - now()


def unix_ns() -> int:
    """Give Unix time, which passes evenly also where somebody sets the clock meanwhile."""
    return EPOCH_NS + now()
