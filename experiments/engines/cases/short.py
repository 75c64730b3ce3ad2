"""Short transfers, and responses after pauses."""

from __future__ import annotations

from experiments.engines.case import HYSTART, RESPONSE, Case, Path, bulk, mptcp, responses, tcp

ONE = Path(20, 60, 150)
TWO = (Path(20, 25, 100), Path(12, 60, 200))


JOIN = "the second subflow joins when the last byte is written: most runs of the kernel refuse the join, one in five does not"
FIRST_DATA = (
    "the data that the second subflow gets when it joins. With both engines there are two kinds of runs, with delays of 6 to 11 ms and of "
    "21 to 31 ms. The second kind are 10 of 16 runs of the kernel, 1 of 20 of the simulation, and two of eight of the simulation with "
    "jitter of 0.25 ms (12.6 ms on average)"
)
# In the figures of its 16 runs, and in captures of four.
LOST = f"{HYSTART}. Ten of 16 runs lost nothing, like the simulation, and have no delay; six lost 0.8 to 5.8 % (7.7 to 14.3 ms)"


def _short(kb: int) -> Case:
    text = mptcp("cubic-linux", bulk(f"{kb} kB"), TWO)
    cause = {64: "", 256: JOIN}.get(kb, FIRST_DATA)
    return Case(f"{kb} kB over two paths", "short", text, is_multipath=True, cause=cause)


def _pause(name: str, transfer: str, *, several: bool = False, cause: str = "") -> Case:
    text = mptcp("cubic-linux", transfer, TWO) if several else tcp("cubic-linux", transfer, ONE)
    return Case(name, "short", text, is_multipath=several, measure=RESPONSE, cause=cause)


CASES = (
    *(_short(kb) for kb in (64, 256, 512, 1000, 2000)),
    Case("100 kB over one path", "short", tcp("cubic-linux", bulk("100 kB"), ONE)),
    Case("1 MB over one path", "short", tcp("cubic-linux", bulk("1 MB"), ONE), cause=HYSTART),
    _pause("responses of 200 kB after 1 s", responses("200 kB", 8, "1 s")),
    _pause("responses of 1 MB after 3 s", responses("1 MB", 4, "3 s"), cause=LOST),
    _pause("responses of 20 kB after 200 ms", responses("20 kB", 20, "200 ms")),
    _pause("responses of 500 bytes after 100 ms", responses("500 B", 60, "100 ms")),
    _pause(
        "responses of 500 bytes after 100 ms over two paths",
        responses("500 B", 60, "100 ms"),
        several=True,
    ),
    _pause(
        "responses of 300 kB after 1 s over two paths", responses("300 kB", 8, "1 s"), several=True
    ),
    _pause(
        "responses of 150 kB after 600 ms over two paths",
        responses("150 kB", 8, "600 ms"),
        several=True,
    ),
)
