"""Downloads from ``mptcplab serve --open``, stored as run directories."""

from __future__ import annotations

from pathlib import Path

from mptcplab.engines.field.downloads.download import Download
from mptcplab.engines.field.downloads.engine import Downloaded
from mptcplab.results import record
from mptcplab.results.run import Run
from mptcplab.scenario.scenario import load

NAME = "open"
# The interfaces of the client are not known.
UNKNOWN = "unknown"


def save(download: Download, target: Path) -> Run:
    """Measure a download, and store it as the run directory ``target``."""
    over = "MPTCP" if download.mptcp else "plain TCP"
    names = list(download.paths.values())
    used = {one["congestion_control"] for one in download.socket["subflows"]} - {None}
    control = min(used, default="cubic")
    _, scenario = load(
        {
            "schema": 1,
            "title": f"A download by a client of its own, over {over}",
            "transfer": {"direction": "download", "size": f"{download.size_bytes} B"},
            "kernel": {"congestion_control": control, "tcp_congestion_control": control},
            "path": {name: {"interface": UNKNOWN} for name in names},
        }
    )
    baseline = None if download.mptcp else names[0]
    run, _ = record.run(Downloaded(download), scenario, target, name=NAME, baseline=baseline)
    return run
