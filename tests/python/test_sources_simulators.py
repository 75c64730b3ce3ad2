"""What simulators and emulators write: held to captures of the same packets, and to each other."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import polars as pl
import pytest

from mptcplab import Error, analyze, compare
from tools import TOOLS, row, tool


def trace() -> str:
    return gzip.decompress((TOOLS / "ns3.tr.gz").read_bytes()).decode()


def test_a_trace_of_ns3_shows_what_its_captures_of_both_ends_show() -> None:
    """Captures are of packets that leave the queue of a device, the trace of those that enter it."""
    traced = tool("ns3.tr.gz")
    captured = analyze([TOOLS / "ns3" / f"{end}.pcap.gz" for end in ("client", "server")])
    same = {
        "connections": ["client_address", "client_port", "vantage", "began", "ended", "duration_s"],
        "subflows": ["handshake_rtt_ms", "client_window_scale", "client_mss_bytes", "ecn", "ended"],
        "transfers": ["bytes", "elapsed_s", "reordering_segments", "out_of_order_segments"],
        "flows": ["packets", "data_packets", "retransmitted_packets", "lost_packets"],
    }
    for table, columns in same.items():
        ours, theirs = (getattr(one, table).select(columns) for one in (traced, captured))
        assert len(ours) == len(theirs) > 0
        for column in columns:
            expected = theirs[column].to_list()
            if theirs[column].dtype == pl.Float64:
                expected = [
                    one if one is None else pytest.approx(one, rel=1e-4) for one in expected
                ]
            assert ours[column].to_list() == expected, column
    up = row(traced.flows, direction="up")
    assert up["rtt_ms_min"] == pytest.approx(row(captured.flows, direction="up")["rtt_ms_min"])
    assert up["retransmitted_packets"] == up["lost_packets"] == 29
    assert set(traced.connections["source"]) == {"ns3"}


def test_samples_of_a_trace_name_its_lines() -> None:
    lines, tables = trace().splitlines(), tool("ns3.tr.gz")
    assert set(tables.rtt["capture"]) == {"ns3.tr.gz"}
    one = tables.rtt.row(0, named=True)
    line = lines[one["record"] - 1]
    assert float(line.split()[1]) == pytest.approx(one["at_ns"] / 1e9)
    assert tables.connections["start_s"].to_list() == [0.0]
    assert tables.diagnostics.filter(diagnostic="not_tcp")["count"].to_list() == [20, 20]


def test_a_trace_of_one_device_is_a_capture_at_its_end(tmp_path: Path) -> None:
    """Without the names of nodes, as it is written where the stream is a device's own."""
    own = [line for line in trace().splitlines() if "/NodeList/0/" in line]
    (tmp_path / "own.tr").write_text("".join(re.sub(r"/Node\S+ ", "", f"{one}\n") for one in own))
    tables = analyze(tmp_path / "own.tr")
    assert tables.connections["vantage"].to_list() == ["client"]
    flow = row(tables.flows, direction="up")
    whole = row(tool("ns3.tr.gz").flows, direction="up")
    assert flow["retransmitted_packets"] == whole["retransmitted_packets"]
    assert flow["lost_packets"] is None


def test_flowmonitor_counts_what_the_trace_shows() -> None:
    flows, traced = tool("ns3-flows.xml"), tool("ns3.tr.gz")
    assert flows.connections["protocol"].to_list() == ["tcp", "udp"]
    up, same = (row(one.flows, connection=0, direction="up") for one in (flows, traced))
    assert (up["packets"], up["lost_packets"]) == (same["packets"], same["lost_packets"])
    # Its packets have headers; delays are in bins of a millisecond, and begin above the queue.
    arrived = up["packets"] - up["lost_packets"]
    assert 150_000 < up["bytes"] < 150_000 + 60 * arrived
    assert up["one_way_delay_ms_median"] == pytest.approx(same["one_way_delay_ms_median"], abs=6)
    datagrams = row(flows.flows, connection=1)
    assert datagrams["bytes"] == 20 * 200
    assert (datagrams["data_packets"], datagrams["lost_packets"]) == (20, 0)
    assert len(flows.transfers) == 2
    assert "headers_counted" in flows.diagnostics["diagnostic"].to_list()


def test_ns3_and_a_capture_are_compared() -> None:
    found = compare(TOOLS / "ns3.tr.gz", TOOLS / "ns3" / "client.pcap.gz")
    values = {
        one.figure: (one.a, one.b)
        for one in found.figures
        if one.direction == "up" and one.subflow is None
    }
    assert values["loss_rate_percent"][0] == pytest.approx(values["loss_rate_percent"][1])


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        (
            "ns3.tr",
            lambda: trace().replace("\nr ", "\nt ", 1),
            r", line \d+: '.*' is no packet at a point-to-point or CSMA device",
        ),
        (
            "ns3.tr",
            lambda: trace().partition("\n")[0].replace("ns3::TcpHeader", "ns3::Other") + "\n",
            ": holds no packet of a TCP connection",
        ),
        (
            "flows.xml",
            lambda: (TOOLS / "ns3-flows.xml").read_text()[:2000],
            r", line \d+: is not complete XML .*: was the simulation interrupted\?",
        ),
        ("flows.xml", lambda: "<FlowMonitor></FlowMonitor>", ", line 1: holds no flow: is the Flo"),
    ],
)
def test_damaged_files_are_refused_with_their_line(
    name: str, damage: object, message: str, tmp_path: Path
) -> None:
    assert callable(damage)
    (tmp_path / name).write_text(damage())
    with pytest.raises(Error, match=f"{name}{message}") as refused:
        analyze(tmp_path / name)
    assert "\n" not in str(refused.value)


def test_a_trace_that_was_cut_is_read_to_there(tmp_path: Path) -> None:
    (tmp_path / "ns3.tr").write_text(trace()[:300_000])
    tables = analyze(tmp_path / "ns3.tr")
    assert not tables.complete
    assert "file_cut" in tables.diagnostics["diagnostic"].to_list()
    assert tables.connections["ended"].to_list() == ["open"]
