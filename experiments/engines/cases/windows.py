"""Receive and send buffers: fixed and tuned, on one path and over unequal ones."""

from __future__ import annotations

from experiments.engines.case import Case, Path, bulk, mptcp, tcp

ONE = Path(50, 40, 250)
# Wi-Fi and a cellular path that queues for long.
UNEQUAL = (Path(20, 25, 100), Path(8, 120, 300))
EVDO = (Path(20, 25, 100), Path(1.5, 150, 150))
HSPA = (Path(10, 30, 80), Path(3, 120, 400))


def _fixed(kb: int) -> str:
    return (
        f'receive_buffer = "{kb} kB"\nmax_receive_buffer = "{kb} kB"\nreceive_buffer_tuning = false'
    )


def _tuned(kb: int) -> str:
    return f'max_receive_buffer = "{kb} kB"'


# In captures of both, and 16 runs of the simulation with jitter.
FOUR_AT_A_TIME = (
    "a cycle in which the second subflow gets four segments at a time. The kernel leaves it when something arrives late, after 1 and 2.7 s "
    "in two captures. Five of the simulation's 20 runs leave it, and most do with jitter of 0.25 ms: 8.32 Mbit/s, 49.2 ms, 85.6 %, "
    "111 ms, 16.6 ms (see below)"
)

# In the captures of all 16 runs of the kernel and all 20 of the simulation.
DISCARDED = (
    "data beyond the window, which the receiver discards: only the connection's timer sends it again, one fragment each time (see below). In "
    "the longest gaps of all 16 runs of the kernel two fragments follow each other so (412 to 745 ms). Of the simulation's 20 runs three have "
    "such a gap (519 to 557 ms), ten have one with a single fragment (219 to 399 ms), and seven have none (105 to 163 ms)"
)


def _one(
    name: str, settings: str, path: Path = ONE, size_mb: float = 20, *, cause: str = ""
) -> Case:
    text = tcp("cubic-linux", bulk(f"{size_mb:g} MB"), path, settings)
    return Case(name, "buffers", text, cause=cause)


def _two(
    name: str, settings: str, paths: tuple[Path, ...], size_mb: float, *, cause: str = ""
) -> Case:
    text = mptcp("cubic-linux", bulk(f"{size_mb:g} MB"), paths, tcp=settings)
    return Case(name, "buffers", text, is_multipath=True, cause=cause)


CASES = (
    *(_one(f"one path, receive buffer of {kb} kB", _fixed(kb)) for kb in (128, 256, 512)),
    _one("one path, receive buffer tuned to 512 kB", _tuned(512)),
    _one("one path, receive buffer tuned, 75 Mbit/s, 100 ms", "", Path(75, 100, 900), 60),
    _one("one path, send buffer of 256 kB", 'send_buffer = "256 kB"'),
    _two("unequal paths, receive buffer of 128 kB", _fixed(128), UNEQUAL, 16, cause=FOUR_AT_A_TIME),
    _two("unequal paths, receive buffer of 256 kB", _fixed(256), UNEQUAL, 16),
    _two("unequal paths, receive buffer of 512 kB", _fixed(512), UNEQUAL, 16),
    _two(
        "unequal paths, receive buffer tuned to 512 kB", _tuned(512), UNEQUAL, 16, cause=DISCARDED
    ),
    _two("unequal paths, send buffer of 512 kB", 'send_buffer = "512 kB"', UNEQUAL, 16),
    _two("Wi-Fi and EVDO", "", EVDO, 24),
    _two("Wi-Fi and HSPA", "", HSPA, 14),
    _two("Wi-Fi and EVDO, send buffer of 420 kB", 'send_buffer = "420 kB"', EVDO, 24),
)
