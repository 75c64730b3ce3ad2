"""Tables of a download: of the server's capture, or else of what its kernel counted."""

from __future__ import annotations

import json

from mptcplab import _core
from mptcplab.engines.field.downloads.download import CAPTURE, SAMPLES
from mptcplab.engines.field.marks import FLAG_BYTES, Marked
from mptcplab.engines.field.measure import Ended
from mptcplab.engines.field.routes import Route
from mptcplab.engines.field.surroundings import Surroundings
from mptcplab.engines.kernel import measured
from mptcplab.engines.kernel.agent.observer import COUNTED
from mptcplab.scenario.field import Field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from mptcplab.engines.field.downloads.download import Download

    Row = dict[str, Any]

NOT_OURS = "nothing is ours there"


def of_download(directory: Path, download: Download) -> dict[str, _core.Table]:
    """Measure it; its capture is in ``directory``."""
    samples = download.directory / SAMPLES
    if (directory / CAPTURE).exists():
        captured = _core.analyze([CAPTURE], directory=directory)
        made = {name: captured.table(name) for name in captured.NAMES}
        made["subflows"] = _core.rows("subflows", json.dumps(_named(captured, download)))
        numbers, found = measured.Numbers(captured), list(captured.rows("diagnostics"))
    else:
        marked = _marked(download, samples)
        made = {name: marked.table(name) for name in _core.Tables.NAMES}
        numbers, found = measured.Numbers(marked), []
    return made | {
        "state": numbers.state([samples]),
        "diagnostics": _core.rows("diagnostics", json.dumps([*found, *_remarks(download)])),
    }


def _named(captured: _core.Tables, download: Download) -> list[Row]:
    """Give subflows with the names of their paths: of the client's interfaces nobody knows."""
    return [
        row | {"path": download.paths.get(str(row["client_address"]))}
        for row in captured.rows("subflows")
    ]


def _marked(download: Download, samples: Path) -> Marked:
    """Have what the server's kernel counted in the shape of what a client knows, too."""
    mirrored = samples.with_suffix(".mirrored")
    with samples.open(encoding="utf-8") as lines, mirrored.open("w", encoding="utf-8") as other:
        for line in map(json.loads, lines):
            seen = {"at_ns": line["at_ns"], "local": line["remote"]}
            # Until the first acknowledgement of data there is that of the SYN.
            count = max(0, (line.get("acknowledged_bytes") or 0) - FLAG_BYTES)
            other.write(json.dumps(seen | {"received_bytes": count}) + "\n")
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
        # Nothing here asks a phone for its signal.
        surroundings=Surroundings(Field(echoes=0, radio=0), {}),
        echoes=0,
    )
    routes = {name: Route(name, address, "") for address, name in download.paths.items()}
    return Marked(ended, routes, mirrored)


def _mirror(one: Row) -> Row:
    """Give a subflow as its other end would, as far as that is known here."""
    return dict.fromkeys(COUNTED) | {
        "local": one["remote"],
        "remote": one["local"],
        "first_ns": one["first_ns"],
        "backup": one["backup"],
        "bytes_received": max(0, (one["bytes_acked"] or 0) - FLAG_BYTES),
        "bytes_acked": 0,
    }


def _remarks(download: Download) -> list[Row]:
    """Say who did not capture, and why."""
    told = [("client", NOT_OURS, "what only its packets tell is empty")]
    if download.captured["by"] is None:
        empty = "figures are what its kernel counted, and what only packets tell is empty"
        told.append(("server", str(download.captured["why"]), empty))
    return [
        {
            "diagnostic": "not_captured",
            "message": f"nothing was captured at the {end} ({why}): {empty}",
        }
        for end, why, empty in told
    ]
