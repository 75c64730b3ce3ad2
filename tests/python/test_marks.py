"""Field runs without captures: series of what both kernels counted."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from mptcplab.cli.summary.subflows import _reasons
from mptcplab.engines.field.clock import Offset
from mptcplab.engines.field.marks import Marked
from mptcplab.engines.field.routes import Route
from mptcplab.engines.field.tables import _remarks
from mptcplab.engines.kernel.agent.observer import COUNTED
from mptcplab.engines.kernel.measured import Numbers

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


def test_what_came_after_the_last_look_came_at_the_end(tmp_path: Path) -> None:
    """A subflow that has closed is no longer sampled."""
    samples = tmp_path / "samples"
    line = {"local": CLIENT, "at_ns": START_NS + 23 * 10**8, "received_bytes": 2_300_000}
    samples.write_text(json.dumps(line))
    run = ended()
    (ours,) = run.client["counted"][0]
    ours["bytes_received"] = 2_300_000
    theirs = dict.fromkeys(COUNTED, 0) | {"local": SERVER, "remote": CLIENT}
    # A SYN and a FIN are counted.
    run.server["counted"] = [[theirs | {"bytes_acked": BYTES + 2}]]
    marked = Marked(run, {"wifi": Route("wlan0", CLIENT[0], SERVER[0])}, samples)
    whole = [row for row in marked.rows("throughput") if row["subflow"] is None]
    assert sum(row["bytes"] for row in whole) == BYTES
    assert whole[-1]["throughput_mbps"] == whole[-1]["bytes"] * 8 / 0.5e6
    (down,) = (row for row in marked.rows("flows") if row["direction"] == "down")
    assert down["bytes"] == BYTES + 1


TRANSLATED, JOINED = ("198.51.100.9", 61_000), ("10.0.2.2", 50_000)


def test_the_subflow_that_a_translator_renamed_is_known_by_the_others(tmp_path: Path) -> None:
    """The server knows a path behind one by an address that the client does not have."""
    run = ended()
    (first,) = run.client["counted"][0]
    run.client["counted"] = [[first, first | {"local": JOINED, "first_ns": START_NS + 1}]]
    theirs = first | {"local": SERVER, "data_segs_out": 100, "bytes_sent": 0}
    run.server["counted"] = [
        [
            theirs | {"remote": TRANSLATED, "total_retrans": 4, "min_rtt": 30_000},
            theirs | {"remote": CLIENT, "total_retrans": 1, "min_rtt": 10_000},
        ]
    ]
    routes = {"wifi": Route("wlan0", CLIENT[0], SERVER[0])}
    down = [
        (row["subflow"], row["loss_rate_percent"], row["rtt_ms_min"])
        for row in Marked(run, routes, tmp_path / "samples").rows("flows")
        if row["direction"] == "down"
    ]
    assert down == [(0, 1.0, 10.0), (1, 4.0, 30.0)]
    # Of two of them nobody knows which is which.
    run.server["counted"][0][1]["remote"] = ("198.51.100.9", 61_001)
    rows = list(Marked(run, routes, tmp_path / "samples").rows("flows"))
    assert all("rtt_ms_min" not in row for row in rows if row["direction"] == "down")


class Known:
    """A connection of two subflows, as the client's capture has it."""

    def rows(self, name: str, *, columns: Iterable[str] | None = None) -> list[dict[str, Any]]:
        del columns
        if name == "connections":
            about = {"connection": 0, "client_token": 1, "server_token": 2}
            return [about | {"start_ns": START_NS, "start_s": 0.0}]
        server = {"server_address": SERVER[0], "server_port": SERVER[1], "connection": 0}
        return [
            server | {"subflow": number, "client_address": address, "client_port": port}
            for number, (address, port) in enumerate((CLIENT, JOINED))
        ]


def test_samples_of_the_subflow_that_a_translator_renamed_are_kept(tmp_path: Path) -> None:
    samples = tmp_path / "server.samples"
    said: dict[str, Any] = {"host": "server", "token": None, "at_ns": START_NS, "local": SERVER}
    said |= {"timeout_ms": 200.0, "backoffs": 0, "retransmitted_packets": 0}
    samples.write_text(
        "".join(f"{json.dumps(said | {'remote': end})}\n" for end in (TRANSLATED, CLIENT))
    )
    state = pl.DataFrame(Numbers(Known()).state([samples]))
    assert state.select("host", "subflow").rows() == [("server", 0), ("server", 1)]


def test_echoes_that_never_came_back_are_told_once() -> None:
    """A server whose port is closed for UDP."""
    run = ended()
    run.captured, run.echoes, run.clocks = {}, 20, {"wifi": (None, None), "lte": (None, None)}
    (told,) = _remarks(run)
    assert told["diagnostic"] == "no_echoes"
    assert "open its port for UDP" in told["message"]
    run.clocks["lte"] = (None, Offset(0, 1, START_NS, 1))
    assert _remarks(run) == []
    run.echoes, run.clocks = 0, {"wifi": (None, None)}
    assert _remarks(run) == []


@pytest.mark.parametrize(
    ("silent_ends", "why"),
    [
        (0, "it is not known at which end this was captured"),
        (1, "nobody captured at the client"),
        (2, "nobody captured"),
    ],
)
def test_a_summary_says_whether_anybody_captured(silent_ends: int, why: str) -> None:
    flow = {"direction": "down", "data_packets": 9, "loss_rate_percent": None}
    (line,) = _reasons({"vantage": None}, [], [flow], silent_ends)
    assert line.endswith(f"stay empty: {why}")
