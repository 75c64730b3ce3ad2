"""Field runs without captures: series of what both kernels counted."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mptcplab.engines.field.marks import Marked
from mptcplab.engines.field.routes import Route
from mptcplab.engines.kernel.agent.observer import COUNTED

START_NS = 1_795_000_000 * 10**9
CLIENT, SERVER = ("192.0.2.1", 40_000), ("192.0.2.2", 7443)
BYTES = 2_500_000


def ended() -> Any:
    """A download of 2.5 MB in 2.5 s, as its ends tell it."""
    counted = {"local": CLIENT, "remote": SERVER, "first_ns": START_NS, "backup": None}
    counted |= dict.fromkeys(COUNTED, 0) | {"bytes_received": BYTES}
    socket = {"mptcp": False, "fallback": False, "token": None}
    marks = {"begun_ns": START_NS, "last_read_ns": START_NS + 25 * 10**8, "delivered_ns": None}
    client = {"connections": [marks], "counted": [[counted]], "sockets": [socket]}
    client |= {"bytes_received": BYTES, "finished": True}
    server = {"counted": [], "sockets": [], "bytes_received": 0}
    return SimpleNamespace(
        client=client,
        server=server,
        started_ns=START_NS,
        elapsed_ns=25 * 10**8,
        ready={"preamble_bytes": 60},
    )


@pytest.mark.parametrize("times_s", [(0.3, 0.9, 1.2, 1.7, 2.1, 2.5), (0.5, 2.3)])
def test_a_bin_has_what_came_between_its_ends(times_s: tuple[float, ...], tmp_path: Path) -> None:
    """A megabyte a second, whenever samples were taken."""
    lines = [
        {
            "local": CLIENT,
            "at_ns": START_NS + round(at_s * 1e9),
            "received_bytes": round(at_s * 1e6),
        }
        for at_s in times_s
    ]
    # What is known at the end is written then.
    lines.append({"local": CLIENT, "at_ns": START_NS + 26 * 10**8, "received_bytes": BYTES})
    samples = tmp_path / "samples"
    samples.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    marked = Marked(ended(), {"wifi": Route("wlan0", CLIENT[0], SERVER[0])}, samples)
    series = [row for row in marked.rows("throughput") if row["subflow"] is None]
    assert [row["bytes"] for row in series] == [1_000_000, 1_000_000, 500_000]
    assert [row["throughput_mbps"] for row in series] == [8.0, 8.0, 8.0]
