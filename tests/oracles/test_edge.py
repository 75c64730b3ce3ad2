"""Small captures of what is hard to judge: where each was taken, what is in it, what is remarked.

Verdicts follow from how the captures were made: packets written one by one, or the kernel's on a
LAN of 0.5 ms, captured at both ends. Figures are those of tshark's packets by the rules of
RULES.md, and bytes those of tcptrace.
"""

from __future__ import annotations

import pathlib
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest

import mptcplab
from oracles import foreign, tcptrace_rules, tshark
from oracles.order import in_order
from oracles.tcptrace_rules import OURS
from requirements import need_tool


@dataclass(frozen=True)
class Truth:
    """What is known of a capture: where it was taken, and what each connection carried."""

    # Of each connection: the end, or none where the capture does not show it.
    ends: tuple[str | None, ...]
    up_bytes: tuple[int, ...]
    down_bytes: tuple[int, ...]
    # Mean RTT of data at the end that sent it and was captured, where it was written with one.
    rtt_ms: float | None = None
    remarks: frozenset[str] = frozenset()
    ended: str = "open"
    protocol: str = "tcp"


COARSE = frozenset({"clock_coarse"})
STRAY = frozenset({"stray_packets"})
UNKNOWN = frozenset({"vantage_unknown"})
# 60 requests of 100 B, answered by 600 B; acknowledged 40 ms later where nothing is to be sent.
DELAYED = ((6_000,), (36_000,))
# 30 requests of 100 B, answered by 50 B: whose time stamps a clock of 10 ms gives.
TICKS = ((3_000,), (1_500,))
# Three connections, of equal initial sequence numbers both ways.
THREE = ((100, 100, 100), (1_000, 1_001, 1_002))


def kernel(end: str, requests: int, protocol: str) -> Truth:
    """Requests of 100 B over a LAN, answered by 600 B."""
    return Truth((end,), (requests * 100,), (requests * 600,), ended="closed", protocol=protocol)


EDGE = {
    # A SYN meets an old connection, whose challenge ACK is for what was never sent; a RST answers.
    **{
        f"chal_{kind}": Truth(("client",), (100,), (28_000,), 30, STRAY, "closed")
        for kind in ("fast", "low", "slow")
    },
    # 500 segments whose ACKs have the same tick of 10 ms, or the next.
    "coarse_clock": Truth(("client",), (50_000,), (0,), 2, COARSE),
    "fin_ack": Truth(("client",), (0,), (1_000,), ended="closed"),
    **{
        f"{name}_{end}": kernel(end, requests, protocol)
        for name, requests, protocol in (
            ("lan2", 150, "mptcp"),
            ("lan3", 150, "tcp"),
            ("lan_m", 25, "mptcp"),
            ("lan_t", 25, "tcp"),
        )
        for end in ("client", "server")
    },
    # The handshake of 0.4 ms is believed, not the delayed ACKs.
    "lan_delack_client": Truth(("client",), *DELAYED, rtt_ms=0.5),
    # Without it nothing tells: delayed ACKs are no distance.
    "mid_delack_client": Truth((None,), *DELAYED, remarks=UNKNOWN | {"midway"}),
    # 25 ms from either end, or 50 ms from both by turns.
    "mid25_sameisn": Truth((None,) * 3, *THREE, remarks=UNKNOWN),
    "mid_sameisn": Truth((None,) * 3, *THREE, remarks=UNKNOWN),
    # 70 ms from one end and 30 ms from the other.
    "middle_router": Truth((None,), (5_000,), (25_000,), remarks=UNKNOWN),
    # At two clients; the second one's server is near, and is far by the other connections.
    "opp_sameisn": Truth(("client", None, "client"), *THREE, remarks=UNKNOWN, rtt_ms=50),
    "same_isn": Truth(("client",) * 3, *THREE, rtt_ms=50, ended="closed"),
    "rtt_ok": Truth(("client",), *TICKS, rtt_ms=50, remarks=COARSE),
    # An ACK in the same tick as its data follows it in the file: 0, not the time to the next one.
    "zero_rtt": Truth(("client",), *TICKS, rtt_ms=0, remarks=COARSE),
    "zero_rtt_noack": Truth(("client",), *TICKS, rtt_ms=0, remarks=COARSE),
    "us_rtt": Truth(("client",), *TICKS, rtt_ms=0.001),
}
Found = Callable[[str], pathlib.Path]


@pytest.fixture(params=EDGE)
def edge(request: pytest.FixtureRequest, shared_capture: Found) -> tuple[pathlib.Path, Truth]:
    """Each of them, and what is true of it."""
    need_tool("tshark", "tcptrace")
    return shared_capture(f"edge/{request.param}.pcap"), EDGE[request.param]


def test_all_of_them_are_known(shared_capture: Found) -> None:
    there = shared_capture("edge").glob("*.pcap")
    assert {file.stem for file in there} == set(EDGE)


def test_verdicts_are_the_truth(edge: tuple[pathlib.Path, Truth]) -> None:
    capture, truth = edge
    analysis = mptcplab.analyze(capture)
    connections = analysis.connections.sort("connection")
    assert tuple(connections["vantage"]) == truth.ends
    assert set(connections["protocol"]) == {truth.protocol}
    assert set(connections["ended"]) == {truth.ended}
    for direction, expected in (("up", truth.up_bytes), ("down", truth.down_bytes)):
        sent = analysis.flows.filter(direction=direction).group_by("connection")
        assert tuple(sent.agg(pl.sum("bytes")).sort("connection")["bytes"]) == expected
    assert set(analysis.diagnostics["diagnostic"]) == truth.remarks


def test_round_trips_are_those_of_the_end_that_was_captured(
    edge: tuple[pathlib.Path, Truth],
) -> None:
    capture, truth = edge
    analysis = mptcplab.analyze(capture)
    models = {
        key: {"up": up, "down": down}
        for key, up, down in tcptrace_rules.flows(in_order(tshark.read(capture)), OURS)
    }
    for row in analysis.flows.join(analysis.subflows, on=["connection", "subflow"]).iter_rows(
        named=True
    ):
        end = truth.ends[row["connection"]]
        sender = "client" if row["direction"] == "up" else "server"
        if end != sender:
            assert row["rtt_samples"] is row["rtt_ms_mean"] is None
            assert row["retransmitted_packets"] is None
            continue
        times = models[_key(row)][row["direction"]].rtts_of_data()
        assert row["rtt_samples"] == len(times)
        if times:
            mean = sum(times) / len(times) / 1e6
            assert row["rtt_ms_mean"] == pytest.approx(mean, rel=1e-9, abs=1e-9)
            assert truth.rtt_ms is None or mean == pytest.approx(truth.rtt_ms, rel=1e-6)


def _key(row: dict[str, Any]) -> tshark.FourTuple:
    return row["client_address"], row["client_port"], row["server_address"], row["server_port"]


def test_every_difference_from_tshark_and_tcptrace_has_its_rule(
    edge: tuple[pathlib.Path, Truth],
) -> None:
    capture, truth = edge
    flows, lines = foreign.compare(capture)
    assert flows >= len(truth.ends)
    assert [line for line in lines if line.endswith("?")] == []


def test_a_packet_that_is_longer_than_its_frame_is_believed(tmp_path: pathlib.Path) -> None:
    """As tools leave them that cut packets: by the header of IP 100 B of data, in the frame 60."""
    need_tool("tshark", "tcptrace")
    addresses = bytes([10, 0, 0, 1, 10, 0, 0, 2])
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 140, 1, 0, 64, 6, 0) + addresses
    tcp = struct.pack(">HHIIBBHHH", 1000, 80, 7, 9, 5 << 4, 0x18, 1000, 0, 0)
    frame = ip + tcp + bytes(60)
    header = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)
    capture = tmp_path / "cut.pcap"
    capture.write_bytes(header + struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)

    assert mptcplab.analyze(capture).flows["data_bytes"].sum() == 100
    _, lines = foreign.compare(capture)
    assert lines
    assert {line.rpartition(": ")[2] for line in lines} == {"longer_than_frame"}
