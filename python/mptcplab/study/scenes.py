"""Scenarios and campaigns of the study as tables, and which links they hang on."""

from __future__ import annotations

from mptcplab.scenario import library
from mptcplab.scenario.quantity import BYTES
from mptcplab.study.experiment import LINUX, PAPERS, TODAY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from mptcplab.study.experiment import Extent

#: UM-CS-2012-022 §IV-A switched the cached threshold off, which then was 64 KB: 46 packets.
THRESHOLD = {"tcp.ssthresh_cache": False, "tcp.initial_ssthresh": 46}
#: Not ``lia-linux``, which is of later kernels: they have round-trip times in eighths of a
#: microsecond, whose square makes an integer 0 of what the best path is known by, from some 35 ms
#: on. The papers' had them in ticks.
LIA = {"mptcp.congestion_control": "lia"}
STACKS: dict[str, dict[str, Any]] = {
    PAPERS: {"mptcp.era": "2012"},
    # With addresses announced and joined, as its administrator would have it on such a host.
    TODAY: {
        "mptcp.era": "current",
        "mptcp.path_manager": "full-mesh",
        "mptcp.max_subflows": 8,
        "mptcp.max_add_addr_accepted": 8,
    },
}
# Linux has no LIA: uncoupled Reno is the nearest that it has.
STACKS[LINUX] = STACKS[TODAY] | {
    "kernel.congestion_control": "reno",
    "kernel.tcp_congestion_control": "reno",
}
KERNEL_STOP = "5 min"
# What Linux decides by itself.
NOT_OF_LINUX = ("tcp.initial_ssthresh", "tcp.adv_win_scale")
BUFFERS = ("tcp.receive_buffer", "tcp.max_receive_buffer")
#: What a full segment of a packet of 1500 bytes occupies in Linux, and its payload.
OCCUPIED_BYTES, PAYLOAD_BYTES = 2304, 1448
#: Origins of links, from what was measured to what was not.
ORIGINS = ("calibrated", "transferred", "assumed")


def profile(row: str) -> str:
    """Name the link that was calibrated on a row of a single path."""
    return row.lower().replace("/", "-")


def scenario(
    paths: dict[str, str],
    direction: str,
    *,
    size: str | None = None,
    duration: str | None = None,
    addresses: int = 1,
    timeline: Sequence[dict[str, Any]] = (),
    sections: dict[str, dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Write a transfer over links that ship, by the paths' names.

    ``sections`` holds what else there is of a section: ``{"server": {"port": 80}}``.
    """
    amount = {"size": size} if size else {"duration": duration}
    written: dict[str, Any] = {
        "schema": 1,
        "transfer": {"direction": direction, **amount},
        "link": {name: {"profile": link} for name, link in paths.items()},
        "path": {name: {"link": name} for name in paths},
        "server": {"addresses": addresses},
        "run": {"stop": "3 h", "sample": "0 s"},
    }
    if timeline:
        written["timeline"] = list(timeline)
    for name, section in (sections or {}).items():
        written[name] = {**written.get(name, {}), **section}
    return written


def campaign(
    scene: dict[str, Any],
    extent: Extent,
    repetitions: int,
    *,
    title: str,
    both: dict[str, Any] | None = None,
    controlled: bool = False,
    baselines: bool = True,
    axes: dict[str, Any] | None = None,
    tables: Sequence[str] = (),
) -> dict[str, Any]:
    """Write a campaign over the stacks that are asked for.

    ``both`` is set of all of them. Plain TCP is Reno, which the papers used; MPTCP has the papers'
    LIA, unless an axis says how it is ``controlled``.
    """
    if extent.engine.real_time:
        # What stands still is given up.
        scene = {**scene, "run": {**scene["run"], "stop": KERNEL_STOP}}
    points = {
        name: STACKS[name] | {"tcp.congestion_control": "reno"} | (both or {})
        for name in extent.stacks
    }
    if PAPERS in points and not controlled:
        points[PAPERS] = points[PAPERS] | LIA
    return {
        "schema": 1,
        "title": title,
        "scenario": scene,
        "engine": extent.engine.name,
        "repetitions": repetitions,
        "baselines": baselines,
        "tables": list(tables),
        "axis": _possible({"stack": {"points": points}, **(axes or {})}, extent),
    }


def _possible(axes: dict[str, Any], extent: Extent) -> dict[str, Any]:
    """Leave out what Linux cannot be told."""
    if not extent.engine.linux:
        return axes
    return {
        name: {
            **axis,
            "points": {label: _for_linux(point) for label, point in axis["points"].items()},
        }
        if "points" in axis
        else axis
        for name, axis in axes.items()
    }


def _for_linux(point: dict[str, Any]) -> dict[str, Any]:
    settings = {key: value for key, value in point.items() if key not in NOT_OF_LINUX}
    if "tcp.adv_win_scale" in point:
        # The point gives windows, Linux takes memory.
        settings |= {
            key: f"{BYTES.parse(point[key]) * OCCUPIED_BYTES // PAYLOAD_BYTES} B"
            for key in BUFFERS
            if key in point
        }
    return settings


def profiles(table: Any) -> Iterator[str]:
    """Name the links that a campaign or a scenario hangs on."""
    if isinstance(table, dict):
        for key, value in table.items():
            if key.rpartition(".")[2] == "profile" and isinstance(value, str):
                yield value
            else:
                yield from profiles(value)
    elif isinstance(table, list):
        for value in table:
            yield from profiles(value)


def origin(link: str) -> str:
    """Say how a link that ships came by its figures."""
    there = library.table("links", link).get("origin")
    kind = there.get("kind") if isinstance(there, dict) else None
    return kind if kind in ORIGINS else ORIGINS[-1]


def worst(links: Sequence[str]) -> str:
    """Give the origin of links that is the least sure."""
    found = [origin(link) for link in links]
    return max(found, key=ORIGINS.index, default=ORIGINS[0])
