"""MPTCP over two paths, as Linux has it."""

from __future__ import annotations

from experiments.engines.case import RATES, Case, Path, bulk, mptcp

CONTROLLERS = {"reno": "reno-linux", "cubic": "cubic-linux", "bbr": "bbr"}
EQUAL = (Path(10, 40, 50), Path(10, 40, 50))
UNEQUAL = (Path(20, 25, 100), Path(8, 60, 150))
LOSSY = (Path(20, 30, 150, 0.5), Path(10, 60, 150, 0.5))
BUFFERED = (Path(20, 24, 150, 0.5), Path(10, 60, 600))
THREE = (Path(10, 30, 80), Path(8, 50, 80), Path(6, 80, 80))
IPV6 = tuple(Path(path.rate_mbps, path.rtt_ms, path.queue_kb, more="ip = 6") for path in UNEQUAL)
# Each address of the client with each of the server.
MESH = """path_manager = "full-mesh"
max_subflows = 8
max_add_addr_accepted = 8"""
TWO_ADDRESSES = "[server]\naddresses = 2"


def _case(
    name: str,
    controller: str,
    paths: tuple[Path, ...],
    size_mb: float,
    direction: str = "download",
    *,
    cause: str = "",
    **more: str,
) -> Case:
    text = mptcp(CONTROLLERS[controller], bulk(f"{size_mb:g} MB", direction), paths, **more)
    drawn = any(path.loss_percent for path in paths)
    return Case(
        f"{controller}, {name}",
        "several paths",
        text,
        is_multipath=True,
        is_drawn=drawn,
        cause=cause,
    )


CASES = (
    _case("two equal subflows", "reno", EQUAL, 24),
    _case("two equal subflows", "cubic", EQUAL, 24),
    _case("two unequal subflows", "reno", UNEQUAL, 32),
    _case("two unequal subflows", "cubic", UNEQUAL, 32),
    _case("two lossy subflows", "reno", LOSSY, 14),
    _case("two lossy subflows", "cubic", LOSSY, 14),
    _case("four subflows over two paths", "reno", UNEQUAL, 32, mptcp=MESH, more=TWO_ADDRESSES),
    _case("four subflows over two paths", "cubic", UNEQUAL, 32, mptcp=MESH, more=TWO_ADDRESSES),
    _case("a lossy path and one with a deep queue", "bbr", BUFFERED, 32, cause=RATES),
    _case("three subflows", "cubic", THREE, 24),
    _case("two unequal subflows over IPv6", "cubic", IPV6, 24),
    _case("an upload over two unequal subflows", "cubic", UNEQUAL, 32, "upload"),
    _case("checksums", "cubic", UNEQUAL, 24, mptcp="checksum = true"),
)
