"""Field runs without captures: series of what both kernels counted."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from mptcplab.cli.summary.subflows import _reasons
from mptcplab.engines.field.clock import Offset
from mptcplab.engines.field.marks import (
    CLOSE,
    CLOSE_WAIT,
    FIN_WAIT2,
    LAST_ACK,
    Marked,
    acknowledged,
    received,
)
from mptcplab.engines.field.routes import Route
from mptcplab.engines.field.tables import _remarks
from mptcplab.engines.kernel.agent import loop
from mptcplab.engines.kernel.agent.diagnosis import Reader
from mptcplab.engines.kernel.agent.observer import COUNTED
from mptcplab.engines.kernel.measured import Numbers
from mptcplab.engines.kernel.pairing import paired

if TYPE_CHECKING:
    from mptcplab.engines.kernel.pairing import Ids

START_NS = 1_795_000_000 * 10**9
CLIENT, SERVER = ("192.0.2.1", 40_000), ("192.0.2.2", 7443)
BYTES = 2_500_000
TIMEOUT_SECONDS = 20
FIN_WAIT1 = 4


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
    # Its FIN is counted.
    theirs |= {"first_ns": START_NS, "state": FIN_WAIT2}
    run.server["counted"] = [[theirs | {"bytes_acked": BYTES + 1}]]
    marked = Marked(run, {"wifi": Route("wlan0", CLIENT[0], SERVER[0])}, samples)
    whole = [row for row in marked.rows("throughput") if row["subflow"] is None]
    assert sum(row["bytes"] for row in whole) == BYTES
    assert whole[-1]["throughput_mbps"] == whole[-1]["bytes"] * 8 / 0.5e6
    (down,) = (row for row in marked.rows("flows") if row["direction"] == "down")
    assert (down["bytes"], down["share"]) == (BYTES, 1.0)


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
    # Where all are renamed, the first of both ends is the same.
    run.server["counted"][0][0]["first_ns"] = START_NS + 1
    run.server["counted"][0][1]["remote"] = ("198.51.100.9", 61_001)
    rows = list(Marked(run, routes, tmp_path / "samples").rows("flows"))
    assert [row["rtt_ms_min"] for row in rows if row["direction"] == "down"] == [10.0, 30.0]


@pytest.mark.parametrize(
    ("client", "server", "pairs"),
    [
        # The same names at both ends.
        ({"a": None, "b": None}, {"b": None, "a": None}, {"a": "a", "b": "b"}),
        # By identifiers, whatever the order in which joins came.
        (
            {"a": (0, 0), "b": (2, 0), "c": (3, 0)},
            {"x": (0, 0), "y": (0, 3), "z": (0, 2)},
            {"x": "a", "y": "c", "z": "b"},
        ),
        # One that was opened again has the same.
        (
            {"a": (0, 0), "b": (2, 0), "c": (2, 0)},
            {"x": (0, 0), "y": (0, 2), "z": (0, 2)},
            {"x": "a", "y": "b", "z": "c"},
        ),
        # Without identifiers: the first, and the last that is left.
        ({"a": None, "b": None}, {"x": None, "y": None}, {"x": "a", "y": "b"}),
        ({"a": None, "b": None}, {"x": None, "a": None}, {"x": "b", "a": "a"}),
        # Nobody knows which of two.
        ({"a": None, "b": None, "c": None}, {"x": None, "y": None, "z": None}, {"x": "a"}),
        ({"a": None, "b": (2, 0), "c": (2, 0)}, {"a": None, "z": (0, 2)}, {"a": "a"}),
        ({}, {"x": (0, 0)}, {}),
    ],
)
def test_subflows_are_paired_by_what_no_translator_changes(
    client: dict[str, Ids], server: dict[str, Ids], pairs: dict[str, str]
) -> None:
    assert paired(client, server) == pairs


@pytest.mark.parametrize("protocol", [0, socket.IPPROTO_MPTCP])
def test_syn_and_fin_are_no_data(protocol: int) -> None:
    """The kernel counts them as bytes acknowledged and received, each at its time."""
    reader, sent = Reader(), (70_000, 500)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as client:
            client.connect(listener.getsockname())
            server, _ = listener.accept()
            with server:
                ends = (client, server)
                for end, other, count in zip(ends, ends[::-1], sent, strict=True):
                    end.sendall(bytes(count))
                    other.recv(count, socket.MSG_WAITALL)
                states = [settled(reader, ends, sent)]
                for end in ends:
                    end.shutdown(socket.SHUT_WR)
                    states.append(settled(reader, ends, sent))
    if not protocol:
        assert states == [(1, 1), (FIN_WAIT2, CLOSE_WAIT), (CLOSE, CLOSE)]


def settled(
    reader: Reader, ends: tuple[socket.socket, ...], sent: tuple[int, int]
) -> tuple[int, ...]:
    """Wait until both ends count all of the data; gives their states, 0 where nothing is left."""
    until = time.monotonic() + TIMEOUT_SECONDS
    while True:
        looks = [reader.read(end).subflows for end in ends]
        counted = [look[0].tcp if look else None for look in looks]
        data = [
            None if one is None else (acknowledged(one, opened=number == 0), received(one))
            for number, one in enumerate(counted)
        ]
        if data == [None if counted[n] is None else (sent[n], sent[1 - n]) for n in (0, 1)]:
            states = tuple(0 if one is None else int(one["state"] or 0) for one in counted)
            if not {FIN_WAIT1, LAST_ACK} & set(states):
                return states
        assert time.monotonic() < until, (data, counted)
        time.sleep(0.01)


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


def test_samples_of_all_subflows_are_kept_where_a_translator_renamed_all(tmp_path: Path) -> None:
    """They have the same identifiers at both ends."""
    samples = tmp_path / "samples"
    said: dict[str, Any] = {"token": None, "at_ns": START_NS, "backoffs": 0}
    said |= {"timeout_ms": 200.0}
    ours = [(CLIENT, (0, 0), 1), (JOINED, (2, 0), 2)]
    theirs = [(TRANSLATED, (0, 2), 2), (("198.51.100.9", 61_001), (0, 0), 1)]
    rows = [
        said
        | {"host": host, "local": local, "remote": remote, "ids": ids}
        | {"retransmitted_packets": count}
        for host, ends in (("client", ours), ("server", theirs))
        for end, ids, count in ends
        for local, remote in [(end, SERVER) if host == "client" else (SERVER, end)]
    ]
    samples.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    state = pl.DataFrame(Numbers(Known()).state([samples]))
    assert state.select("host", "subflow", "retransmitted_packets").rows() == [
        ("client", 0, 1),
        ("client", 1, 2),
        ("server", 0, 1),
        ("server", 1, 2),
    ]


def test_echoes_that_never_came_back_are_told_once() -> None:
    """A server whose port is closed for UDP."""
    run = ended()
    run.captured, run.echoes, run.clocks = {}, 20, {"wifi": (None, None), "lte": (None, None)}
    (row,) = _remarks(run)
    assert row["diagnostic"] == "no_echoes"
    assert "open its port for UDP" in row["message"]
    run.clocks["lte"] = (None, Offset(0, 1, START_NS, 1))
    assert _remarks(run) == []
    run.echoes, run.clocks = 0, {"wifi": (None, None)}
    assert _remarks(run) == []


def test_a_clock_that_was_set_is_told_and_moves_no_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    run = ended()
    before, after = Offset(0, 1, START_NS, 1), Offset(-(10**9), 1, START_NS + 2 * 10**9, 1)
    run.captured, run.echoes, run.clocks = {}, 1, {"wifi": (before, after)}
    (row,) = _remarks(run)
    assert row["diagnostic"] == "clock_set"
    assert "it jumped by 1000 ms" in row["message"]
    at_ns = loop.unix_ns()
    monkeypatch.setattr("time.time_ns", lambda: 0)
    assert at_ns <= loop.unix_ns()


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
