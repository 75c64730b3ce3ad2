"""Tables of a download: of the server's capture, or else of what its kernel counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mptcplab import _core
from mptcplab.engines.field.downloads.download import CAPTURE, SAMPLES, Download
from mptcplab.engines.field.marks import Marked, acknowledged
from mptcplab.engines.field.measure import Ended
from mptcplab.engines.field.routes import Route
from mptcplab.engines.field.surroundings import Surroundings
from mptcplab.engines.kernel import measured
from mptcplab.engines.kernel.agent.observer import COUNTED
from mptcplab.scenario.field import Field

Row = dict[str, Any]

NOT_OURS = "nothing is ours there"


def of_download(directory: Path, download: Download) -> dict[str, _core.Table]:
    """Measure it; its capture is in ``directory``."""
    samples = download.directory / SAMPLES
    if (directory / CAPTURE).exists():
        captured = _core.analyze([CAPTURE], directory=directory)
        run_tables = {name: captured.table(name) for name in captured.NAMES}
        run_tables["subflows"] = _core.rows("subflows", json.dumps(_named(captured, download)))
        numbers, diagnostics = measured.Numbers(captured), list(captured.rows("diagnostics"))
    else:
        marked = _marked(download, samples)
        run_tables = {name: marked.table(name) for name in _core.Tables.NAMES}
        numbers, diagnostics = measured.Numbers(marked), []
    return run_tables | {
        "state": numbers.state([samples]),
        "diagnostics": _core.rows("diagnostics", json.dumps([*diagnostics, *_remarks(download)])),
    }


def _named(captured: _core.Tables, download: Download) -> list[Row]:
    """Give subflows with names for their paths: the client's interfaces are not known."""
    return [
        row | {"path": download.paths.get(str(row["client_address"]))}
        for row in captured.rows("subflows")
    ]


def _marked(download: Download, samples: Path) -> Marked:
    """Give the counts of the server's kernel also in the form that a client would report."""
    mirror_path = samples.with_suffix(".mirrored")
    with samples.open(encoding="utf-8") as lines, mirror_path.open("w", encoding="utf-8") as other:
        for line in map(json.loads, lines):
            sample = {"at_ns": line["at_ns"], "local": line["remote"]}
            count = line.get("acknowledged_bytes") or 0
            other.write(json.dumps(sample | {"received_bytes": count}) + "\n")
    client = {
        "sockets": [download.socket],
        "connections": [{"begun_ns": download.started_ns, "last_read_ns": download.ended_ns}],
        "counted": [[_mirror(one) for one in download.counted]],
        "bytes_received": download.sent.delivered,
        "finished": download.finished,
    }
    server = {"sockets": [download.socket], "counted": [download.counted], "bytes_received": 0}
    elapsed_ns = download.ended_ns - download.started_ns
    ended = Ended(
        ready={"preamble_bytes": 0},
        client=client,
        server=server,
        stopped=False,
        started_ns=download.started_ns,
        elapsed_ns=elapsed_ns,
        clocks={},
        captured={},
        # A client without mptcplab reports no signal.
        surroundings=Surroundings(Field(echoes=0, radio=0), {}),
        echoes=0,
    )
    routes = {name: Route(name, address, "") for address, name in download.paths.items()}
    return Marked(ended, routes, mirror_path)


def _mirror(one: Row) -> Row:
    """Give a subflow as its other end would report it, as far as that is known here."""
    return dict.fromkeys(COUNTED) | {
        "local": one["remote"],
        "remote": one["local"],
        "first_ns": one["first_ns"],
        "backup": one["backup"],
        "ids": None,
        "bytes_received": acknowledged(one, opened=False),
        "bytes_acked": 0,
    }


def _remarks(download: Download) -> list[Row]:
    """Say which ends were not captured, and why."""
    missing = [("client", NOT_OURS, "what only its packets show is empty")]
    if download.captured["by"] is None:
        effect = "figures come from its kernel's counters, and what only packets show is empty"
        missing.append(("server", str(download.captured["why"]), effect))
    return [
        {
            "diagnostic": "not_captured",
            "message": f"nothing was captured at the {end} ({reason}): {effect}",
        }
        for end, reason, effect in missing
    ]
