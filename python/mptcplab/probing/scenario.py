"""The results of probes as a scenario that the simulator runs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mptcplab.probing import syn
from mptcplab.probing.row import ALTERED, BLOCKED, CLEAR, Row

PACKETS = re.compile(r"packets of (\d+) B")
MSS = re.compile(r"MSS (\d+)")


def elements(rows: Sequence[Row]) -> list[str]:
    """Give the elements of a path, as ``middleboxes`` lists them."""
    found = {row.probe: row for row in rows if row.verdict in (ALTERED, BLOCKED)}
    boxes = []
    if "MP_CAPABLE" in found:
        boxes.append('{ element = "strip-options", segments = "syn" }')
    if "MP_CAPABLE answer" in found:
        boxes.append('{ element = "strip-options", segments = "syn-ack" }')
    if "MP_JOIN" in found:
        boxes.append('{ element = "strip-options", option = "mp-join" }')
    if any(probe.startswith("ADD_ADDR") for probe in found):
        boxes.append('{ element = "strip-options", option = "add-addr" }')
    if "DSS" in found:
        boxes.append('{ element = "strip-options", segments = "data" }')
    if "MSS" in found:
        sizes = [int(size) for size in re.findall(r"\d+", found["MSS"].arrived)]
        boxes.append(f'{{ element = "clamp-mss", bytes = "{min(sizes)} B" }}')
    if "window" in found:
        sizes = [int(size) for size in re.findall(r"\d+", found["window"].arrived)]
        boxes.append(f'{{ element = "clamp-window", bytes = "{min(sizes)} B" }}')
    holes = [row for probe, row in found.items() if probe.startswith("large packets")]
    if holes:
        size = min(_number(PACKETS, row) for row in holes)
        boxes.append(f'{{ element = "mtu", bytes = "{size} B", answer = "silent" }}')
    idle = [row for probe, row in found.items() if probe.startswith("idle")]
    seconds = min((float(row.arrived.removesuffix(" s")) for row in idle), default=None)
    silent = "" if seconds is None else f', idle = "{seconds:g} s"'
    if "NAT" in found:
        boxes.append(f'{{ element = "nat"{silent} }}')
    elif silent:
        boxes.append(f'{{ element = "firewall"{silent} }}')
    return boxes


def recommended(rows: Sequence[Row]) -> dict[str, str]:
    """Say what to set so that connections get through."""
    found = {row.probe: row for row in rows}
    bad = {probe: row for probe, row in found.items() if row.verdict in (ALTERED, BLOCKED)}
    holes = [row for probe, row in bad.items() if probe.startswith("large packets")]
    advice = {}
    if holes:
        advice["MSS"] = f"{min(_number(MSS, row) for row in holes)} bytes"
    alive = found.get("keep-alive")
    if any(probe.startswith("idle") for probe in bad) and alive and alive.verdict == CLEAR:
        advice["keep-alive"] = alive.arrived
    if "MP_CAPABLE" in bad:
        # Kinds of options, as the probe of ports lists them.
        passing = [
            probe
            for probe, row in found.items()
            if probe.startswith("port ") and str(syn.MPTCP) in row.arrived.split(", ")
        ]
        if passing:
            advice["port"] = f"{passing[0].removeprefix('port ')}, where MP_CAPABLE arrives"
    return advice


def _number(pattern: re.Pattern[str], row: Row) -> int:
    found = pattern.search(row.arrived)
    assert found is not None  # noqa: S101 - the probe writes it so
    return int(found[1])


def toml(rows: Sequence[Row]) -> str:
    """Write the scenario; rates and delays are to be filled in."""
    lines = ["schema = 1", "", "[transfer]", 'direction = "download"', 'size = "10 MB"']
    for number, path in enumerate(dict.fromkeys(row.path for row in rows)):
        name = re.sub(r"[^a-z0-9-]", "-", path.lower()).strip("-")[:15]
        name = name if re.match(r"[a-z]", name) else f"path{number}"
        boxes = ",\n  ".join(elements([row for row in rows if row.path == path]))
        lines += [
            "",
            f"[path.{name}]",
            'rate = "10 Mbit/s" # not measured',
            'delay = "20 ms" # not measured',
        ]
        if boxes:
            lines.append(f"middleboxes = [\n  {boxes},\n]")
    return "\n".join(lines) + "\n"
