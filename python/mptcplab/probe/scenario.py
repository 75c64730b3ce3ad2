"""What probes found, as a scenario that the simulator runs."""

from __future__ import annotations

import re

from mptcplab.probe.row import ALTERED, BLOCKED, Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

HEADERS_BYTES = 40


def elements(rows: Sequence[Row]) -> list[str]:
    """Give the elements of a path, as ``middleboxes`` lists them."""
    found = {row.probe: row for row in rows if row.verdict in (ALTERED, BLOCKED)}
    made = []
    if "MP_CAPABLE" in found:
        made.append('{ element = "strip-options", segments = "syn" }')
    if "MP_CAPABLE answer" in found:
        made.append('{ element = "strip-options", segments = "syn-ack" }')
    if "MP_JOIN" in found:
        made.append('{ element = "strip-options", option = "mp-join" }')
    if "DSS" in found:
        made.append('{ element = "strip-options", segments = "data" }')
    if "MSS" in found:
        sizes = [int(size) for size in re.findall(r"\d+", found["MSS"].arrived)]
        made.append(f'{{ element = "clamp-mss", bytes = "{min(sizes)} B" }}')
    if "window" in found:
        sizes = [int(size) for size in re.findall(r"\d+", found["window"].arrived)]
        made.append(f'{{ element = "clamp-window", bytes = "{min(sizes)} B" }}')
    holes = [row for probe, row in found.items() if probe.startswith("large packets")]
    if holes:
        size = min(int(row.arrived.removeprefix("MSS ")) for row in holes)
        made.append(f'{{ element = "mtu", bytes = "{size + HEADERS_BYTES} B", answer = "silent" }}')
    idle = [row for probe, row in found.items() if probe.startswith("idle")]
    seconds = min((float(row.arrived.removesuffix(" s")) for row in idle), default=None)
    silent = "" if seconds is None else f', idle = "{seconds:g} s"'
    if "NAT" in found:
        made.append(f'{{ element = "nat"{silent} }}')
    elif silent:
        made.append(f'{{ element = "firewall"{silent} }}')
    return made


def recommended(rows: Sequence[Row]) -> dict[str, str]:
    """Say what to set so that connections get through."""
    found = {row.probe: row for row in rows if row.verdict in (ALTERED, BLOCKED)}
    holes = [row.arrived for probe, row in found.items() if probe.startswith("large packets")]
    idle = [row.arrived for probe, row in found.items() if probe.startswith("idle")]
    advice = {}
    if holes:
        advice["MSS"] = f"{min(int(one.removeprefix('MSS ')) for one in holes)} bytes"
    if idle and "keep-alive" not in found:
        seconds = min(float(one.removesuffix(" s")) for one in idle)
        advice["keep-alive"] = f"every {max(1, int(seconds / 2))} s"
    return advice


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
