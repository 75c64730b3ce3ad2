"""Campaigns of experiments: the tables of their files, written out as campaigns that can be run."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from mptcplab import measurements
from mptcplab.calibration import rows as calibrated
from mptcplab.measurements import SinglePath
from mptcplab.quantity import BYTES
from mptcplab.reading import read_text
from mptcplab.study.experiment import LINUX, PAPERS, Extent
from mptcplab.study.links import profile

Table = dict[str, Any]

KEYS = (
    "like",
    "title",
    "repetitions",
    "rows",
    "transfer",
    "paths",
    "addresses",
    "timeline",
    "middleboxes",
    "settings",
    "simulated",
    "baselines",
    "tables",
    "axis",
)
#: Of a campaign over single paths.
PATH = "path"
CONGESTION, LIA = "congestion_control", "lia"
CONTROLLER = f"mptcp.{CONGESTION}"
KERNEL_STOP, KERNEL_SIZE = "5 min", "10 MB"
# What Linux decides by itself.
NOT_OF_LINUX = ("tcp.initial_ssthresh", "tcp.adv_win_scale")
BUFFERS = ("tcp.receive_buffer", "tcp.max_receive_buffer")
#: What a full segment of a packet of 1500 bytes occupies in Linux, and its payload.
OCCUPIED_BYTES, PAYLOAD_BYTES = 2304, 1448
PRINTED = re.compile(r"\{([^}]+)\}")


def written(campaigns: dict[str, Table], extent: Extent) -> dict[str, Table]:
    """Write out all campaigns of an experiment."""
    return {name: _campaign(table, extent) for name, table in inherited(campaigns).items()}


def inherited(campaigns: dict[str, Table]) -> dict[str, Table]:
    """Give each campaign what it has of the one that it is ``like``."""
    return {
        name: {**campaigns.get(table.get("like", ""), {}), **table}
        for name, table in campaigns.items()
    }


def rows(wanted: Table) -> list[SinglePath]:
    """Give the rows of single paths that are as wanted, each value one or a list of them."""

    def fits(row: SinglePath) -> bool:
        return all(
            getattr(row, key) in (value if isinstance(value, list) else [value])
            for key, value in wanted.items()
        )

    return [row for row in measurements.load().single_path.values() if fits(row)]


def _campaign(table: Table, extent: Extent) -> Table:
    of = rows(table["rows"]) if "rows" in table else []
    axes = {"row": {"points": {one.id: _point(one) for one in of}}} if of else {}
    axes |= _resolved(table.get("axis", {}))
    stacks = _stacks(table, extent, controlled=CONTROLLER in str(axes))
    repetitions = extent.repetitions(*table["repetitions"])
    return {
        "schema": 1,
        "title": table["title"],
        "scenario": _of_rows(of, extent) if of else _scenario(table, extent),
        "engine": extent.engine.name,
        "repetitions": repetitions,
        "baselines": table.get("baselines", not of),
        "tables": table.get("tables", []),
        "axis": _possible({"stack": {"points": stacks}, **axes}, extent),
    }


def _stacks(table: Table, extent: Extent, *, controlled: bool) -> dict[str, Table]:
    """Give the settings of each stack; MPTCP has the papers' LIA, unless an axis controls it.

    Linux has it if it is loaded.
    """
    shared = _settings()
    names = table.get("settings", ["plain-tcp"] if "rows" in table else [])
    simulated = {} if extent.engine.linux else table.get("simulated", {})
    points = {}
    for stack in extent.stacks:
        point = dict(shared["stack"][stack])
        without = point.pop("without", [])
        for name in names:
            if name not in without:
                point |= shared["set"][name]
        points[stack] = point | simulated
    if PAPERS in points and not controlled:
        points[PAPERS] |= shared["set"]["lia"]
    if LINUX in points and controlled:
        del points[LINUX][f"kernel.{CONGESTION}"]
    elif LINUX in points and LIA not in extent.engine.unloaded():
        points[LINUX][f"kernel.{CONGESTION}"] = LIA
    return points


def _scenario(table: Table, extent: Extent) -> Table:
    """Write a transfer over links that ship, by the paths' names."""
    transfer = dict(table["transfer"])
    if extent.engine.real_time and "size" in transfer:
        transfer["size"] = KERNEL_SIZE
    scenario = _over(table["paths"], transfer, extent, table.get("addresses", 1))
    if "timeline" in table:
        scenario["timeline"] = _resolved(table["timeline"])
    for path, boxes in table.get("middleboxes", {}).items():
        scenario["link"][path]["middleboxes"] = _resolved(boxes)
    return scenario


def _of_rows(of: list[SinglePath], extent: Extent) -> Table:
    """Write what each row then says more closely: its link, its amount, its window."""
    transfer = {"direction": of[0].direction, "size": "1 MB"}
    return _over({PATH: of[0].id}, transfer, extent)


def _over(paths: dict[str, str], transfer: Table, extent: Extent, addresses: int = 1) -> Table:
    return {
        "schema": 1,
        "transfer": transfer,
        "link": {name: {"profile": profile(link)} for name, link in paths.items()},
        "path": {name: {"link": name} for name in paths},
        "server": {"addresses": addresses},
        # A run that stalls in real time is given up.
        "run": {"stop": KERNEL_STOP if extent.engine.real_time else "3 h", "sample": "0 s"},
    }


def _point(row: SinglePath) -> Table:
    amount = {"transfer.duration": row.duration} if row.duration else {"transfer.size": row.size}
    return {f"link.{PATH}.profile": profile(row.id), **amount, **_ends(row.id)}


def _ends(row: str) -> Table:
    """Give what a row says of the ends: its receive window, its largest segment."""
    tcp = calibrated.subject(row).tcp
    # Stacks have it already.
    return {f"tcp.{key}": value for key, value in tcp.items() if key != "congestion_control"}


def _resolved(value: Any) -> Any:
    """Replace names by links and by printed values.

    ``row`` is what a row says of the ends, ``{row:key}`` within text a value that was printed.
    """
    if isinstance(value, list):
        return [_resolved(one) for one in value]
    if isinstance(value, str):
        return PRINTED.sub(lambda found: str(measurements.printed(found[1])), value)
    if not isinstance(value, dict):
        return value
    resolved: Table = {}
    for key, one in value.items():
        if key == "row":
            resolved |= _ends(one)
        else:
            is_link = key.rpartition(".")[2] == "profile"
            resolved[key] = profile(one) if is_link else _resolved(one)
    return resolved


def _possible(axes: Table, extent: Extent) -> Table:
    """Leave out what cannot be set on Linux."""
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


def _for_linux(point: Table) -> Table:
    settings = {key: value for key, value in point.items() if key not in NOT_OF_LINUX}
    if "tcp.adv_win_scale" in point:
        # The point gives windows, Linux takes memory.
        settings |= {
            key: f"{BYTES.parse(point[key]) * OCCUPIED_BYTES // PAYLOAD_BYTES} B"
            for key in BUFFERS
            if key in point
        }
    return settings


@cache
def _settings() -> Table:
    return tomllib.loads(read_text(Path(__file__).parent / "settings.toml"))
