"""The largest packets that get through, up and down: black holes, by bisection."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from mptcplab.engines.field import sockets
from mptcplab.probing.client import ProbedPath
from mptcplab.probing.row import BLOCKED, CLEAR, UNKNOWN, Row

LEAST_MSS = 536
FULL_BYTES, BYTES = 100_000, 10_000
# How many sizes of segments are tried at a time: a size that vanishes costs a time-out.
AT_A_TIME = 8
TIMES = 2
UP, DOWN = "large packets up", "large packets down"


def large_packets(path: ProbedPath) -> list[Row]:
    """Find the largest segments that get through, each way."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda probe: _probe(path, probe), (UP, DOWN)))


def _probe(path: ProbedPath, probe: str) -> Row:
    arrives = _up if probe == UP else _down
    sent = "full segments"
    if any(arrives(path, None, FULL_BYTES) for _ in range(TIMES)):
        return Row(path.name, probe, CLEAR, sent, "all", f"{FULL_BYTES} B arrived")
    with ThreadPoolExecutor(AT_A_TIME * TIMES) as pool:

        def fits(sizes: list[int]) -> list[bool]:
            tries = [
                [pool.submit(arrives, path, size, BYTES) for _ in range(TIMES)] for size in sizes
            ]
            return [any(one.result() for one in all_) for all_ in tries]

        try:
            full, headers = _full(path)
        except OSError as error:
            return Row(path.name, probe, UNKNOWN, sent, "none", f"no answer: {error}")
        mss = largest(fits, full)
    if mss is None:
        evidence = "smaller ones do not arrive either"
        return Row(path.name, probe, UNKNOWN, sent, "none", evidence)
    arrived = f"MSS {mss}, packets of {mss + headers} B"
    return Row(path.name, probe, BLOCKED, sent, arrived, "a black hole: larger ones vanish")


def largest(fits: Callable[[list[int]], list[bool]], full: int) -> int | None:
    """Find the largest MSS that fits, below ``full``, which does not; none if the least does not.

    Several sizes are tried at once, then those between the last that fits and the next.
    """
    below, above = LEAST_MSS - 1, full
    while above - below > 1:
        count = min(AT_A_TIME, above - below - 1)
        sizes = [below + (above - below) * at // (count + 1) for at in range(1, count + 1)]
        if below < LEAST_MSS:
            sizes[0] = LEAST_MSS
        good = [size for size, fit in zip(sizes, fits(sizes), strict=True) if fit]
        if not good:
            if below < LEAST_MSS:
                return None
            above = sizes[0]
            continue
        below = max(good)
        above = min([size for size in sizes if size > below], default=above)
    return below


def _full(path: ProbedPath) -> tuple[int, int]:
    """Give the MSS that this host announces, and the bytes of the headers before it."""
    with path.connect() as connection:
        info = sockets.tcp_info(connection.socket)
        timestamps = sockets.TIMESTAMPS_BYTES if info.options & sockets.TIMESTAMPS else 0
        return info.advertised_mss + timestamps, connection.headers_bytes


def _up(path: ProbedPath, mss: int | None, count: int) -> bool:
    with suppress(OSError), path.connect(mss=mss) as connection:
        connection.ask("take", bytes=count, payload=bytes(count))
        return True
    return False


def _down(path: ProbedPath, mss: int | None, count: int) -> bool:
    with suppress(OSError), path.connect(mss=mss) as connection:
        connection.ask("give", bytes=count)
        connection.read(count)
        return True
    return False
