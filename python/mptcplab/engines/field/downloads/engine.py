"""A download as a run: it is over, and only measured."""

from __future__ import annotations

import platform
import shutil
from datetime import UTC, datetime

from mptcplab.engines.engine import UNKNOWN, Measured
from mptcplab.engines.field.downloads import tables
from mptcplab.engines.field.downloads.download import CAPTURE
from mptcplab.engines.field.engine import Field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.engines.engine import Target, Trial
    from mptcplab.engines.field.downloads.download import Download
    from mptcplab.scenario.scenario import Scenario


class Downloaded(Field):
    """Real networks, without mptcplab at the client."""

    def __init__(self, download: Download) -> None:
        self._download = download

    def check(self, scenario: Scenario, baseline: str | None = None) -> None:
        """It has been run."""

    def need(self, scenario: Scenario) -> None:
        """It has been run, and needed no server of runs."""

    def run(self, trial: Trial, target: Target) -> Measured:
        """Take its capture, and measure it."""
        del trial
        download = self._download
        capture = download.directory / CAPTURE
        if capture.exists():
            shutil.move(capture, target.directory / CAPTURE)
        run_tables = tables.of_download(target.directory, download)
        return Measured(run_tables, _outcome(download), _circumstances(download))


def _outcome(download: Download) -> dict[str, Any]:
    return {
        "finished": download.finished,
        "reason": download.sent.reason,
        "elapsed_ns": download.ended_ns - download.started_ns,
        "bytes_received": {"up": 0, "down": download.sent.delivered},
        "corrupt_bytes": 0,
    }


def _circumstances(download: Download) -> dict[str, Any]:
    kernel = {"release": platform.release(), "version": platform.version()}
    return {
        "started": _time(download.started_ns),
        "ended": _time(download.ended_ns),
        "kernel": kernel | {"sockets": {"client": [], "server": [download.socket]}},
        "stacks": {"client": UNKNOWN, "server": "kernel"},
        "open": {
            "client": list(download.client),
            "paths": download.paths,
            "captures": {
                "client": {"by": None, "why": tables.NOT_OURS},
                "server": download.captured,
            },
        },
    }


def _time(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns / 1e9, UTC).isoformat()
