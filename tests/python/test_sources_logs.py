"""What logs of ss and tcptrace's output tell: held to iperf3's figures, and to a capture."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from mptcplab import analyze
from tools import TOOLS, row, tool


def test_ss_tells_of_sockets_what_iperf3_tells_of_its_streams() -> None:
    sockets, streams = tool("ss.log"), tool("iperf3-upload.json")
    for number, port in enumerate(streams.connections["client_port"]):
        same = row(sockets.connections, client_port=port)
        last = sockets.state.filter(connection=same["connection"]).row(-1, named=True)
        own = row(streams.flows, connection=number)
        assert last["retransmitted_packets"] <= own["retransmitted_packets"]
        assert last["congestion_control"] == "cubic"
        moved = row(sockets.transfers, connection=same["connection"], direction="up")
        # The log ends before the test does.
        assert 0.5 * own["bytes"] < moved["bytes"] <= own["bytes"]
    text = (TOOLS / "ss.log").read_text()
    found = re.search(r"(\d+\.\d+)\nState.*\n.*\n.*rtt:([\d.]+)/([\d.]+).* cwnd:(\d+)", text)
    assert found is not None
    first = sockets.state.row(0, named=True)
    assert first["at_ns"] == int(found[1].replace(".", ""))
    assert [first["srtt_ms"], first["rttvar_ms"], first["cwnd_packets"]] == [
        float(found[2]),
        float(found[3]),
        int(found[4]),
    ]


def test_sockets_of_one_token_are_subflows_of_one_connection(tmp_path: Path) -> None:
    """Lines as ss prints them on Linux 6.18, shortened."""
    sample = """{at}
State Recv-Q Send-Q Local Address:Port  Peer Address:Port
ESTAB 0      0           10.0.1.2:35564     10.9.0.1:5201
\t cubic wscale:7,7 rto:236 rtt:33.001/16.5 mss:1448 cwnd:10 bytes_acked:{a} data_segs_out:9 {mptcp}
ESTAB 0      0      [fd00::2]%lte:41712     [fd00::1]:5201
\t cubic wscale:7,7 rto:300 rtt:80/5 mss:1428 cwnd:12 ssthresh:7 bytes_acked:{b} retrans:0/3 {mptcp}
"""
    log = tmp_path / "mptcp.log"
    mptcp = "tcp-ulp-mptcp flags:Mmec token:0000(id:0)/5f3a91c2(id:0) seq:1"
    samples = (("1795725855.5", 1001, 1), ("1795725856.5", 3001, 1001))
    log.write_text("".join(sample.format(at=at, a=a, b=b, mptcp=mptcp) for at, a, b in samples))
    tables = analyze(log)
    assert tables.connections.select("protocol", "subflows", "began").row(0) == (
        "mptcp",
        2,
        "midway",
    )
    assert tables.subflows["client_address"].to_list() == ["10.0.1.2", "fd00::2"]
    assert tables.flows["bytes"].to_list() == [2000, 1000]
    assert tables.transfers.select("direction", "bytes", "elapsed_s").row(0) == ("up", 3000, 1.0)
    assert tables.state.filter(subflow=1)["ssthresh_packets"].to_list() == [7.0, 7.0]


@pytest.mark.parametrize("name", ["tcptrace.txt", "tcptrace.csv"])
def test_tcptrace_tells_of_a_capture_what_it_shows(name: str) -> None:
    captured, tables = tool("client.pcapng.gz"), tool(name)
    ends = ["client_address", "client_port", "server_address", "server_port", "began", "ended"]
    for table, columns in (
        ("connections", [*ends, "vantage", "duration_s", "start_s"]),
        ("flows", ["bytes", "packets", "data_packets", "data_bytes", "gap_filled_packets"]),
        ("flows", ["retransmitted_packets", "retransmitted_bytes", "loss_rate_percent"]),
        ("subflows", ["client_mss_bytes", "server_mss_bytes", "ended"]),
    ):
        order = [one for one in ("connection", "direction") if one in tables.flows.columns]
        frames = [
            getattr(one, table).sort(*order) if table == "flows" else getattr(one, table)
            for one in (captured, tables)
        ]
        moved = [one.filter(pl.col("bytes") > 0) if table == "flows" else one for one in frames]
        for column in columns:
            ours, theirs = (one[column].to_list() for one in moved)
            # tcptrace has microseconds.
            assert theirs == (pytest.approx(ours, abs=2e-6) if column.endswith("_s") else ours), (
                column
            )
    shown = captured.subflows["handshake_rtt_ms"].to_list()
    assert tables.subflows["handshake_rtt_ms"].to_list() == pytest.approx(shown, abs=0.05)
    # tcptrace takes SYN and FIN for samples, too.
    assert row(tables.flows, connection=0, direction="up")["rtt_ms_min"] == pytest.approx(
        row(captured.flows, connection=0, direction="up")["rtt_ms_min"], abs=0.05
    )
    assert row(tables.flows, connection=1, direction="down")["rtt_ms_mean"] is None


@pytest.mark.parametrize("name", ["tcptrace.txt", "ip-mptcp-monitor.log"])
def test_a_clock_that_was_set_back_is_told(name: str, tmp_path: Path) -> None:
    """The last of the events is said to have been before the first."""
    log = (TOOLS / name).read_text()
    was, instead = {
        "tcptrace.txt": ("20:44:15.668868", "20:44:12.668868"),
        "ip-mptcp-monitor.log": ("21:19:12.277536", "21:19:10.277536"),
    }[name]
    assert was in log
    (tmp_path / name).write_text(log.replace(was, instead))
    tables, whole = analyze(tmp_path / name), tool(name)
    jumped = tables.diagnostics.filter(diagnostic="clock_jumped")
    assert jumped["connection"].to_list() == [0]
    lasted = tables.connections["duration_s"].to_list()
    assert lasted[0] == pytest.approx(2.392816 if name == "tcptrace.txt" else 1.687497)
    assert lasted[1:] == whole.connections["duration_s"].to_list()[1:]
    assert tables.subflows["join_time_ms"].to_list()[:2] == [None, None]
    assert tables.transfers.filter(connection=0)["throughput_mbps"].drop_nulls().is_empty()


def test_ss_tells_of_a_clock_that_was_set_back(tmp_path: Path) -> None:
    log = (TOOLS / "ss.log").read_text()
    last = re.findall(r"^(\d{10}\.\d+)\nState.*\nESTAB", log, re.MULTILINE)[-1]
    (tmp_path / "ss.log").write_text(log.replace(last, f"{float(last) - 20:.9f}"))
    tables, whole = analyze(tmp_path / "ss.log"), tool("ss.log")
    assert "clock_jumped" in tables.diagnostics["diagnostic"].to_list()
    assert "clock_jumped" not in whole.diagnostics["diagnostic"].to_list()
    assert (tables.subflows["end_s"] >= tables.subflows["start_s"]).all()
    assert (tables.throughput["throughput_mbps"] >= 0).all()
    assert tables.transfers["bytes"].to_list() == whole.transfers["bytes"].to_list()


def test_a_kernels_events_are_signals_of_the_connections_that_they_tell_of() -> None:
    """Both ends were on one machine, so each connection is there twice, as each host saw it."""
    tables = tool("ip-mptcp-monitor.log")
    lines = (TOOLS / "ip-mptcp-monitor.log").read_text().splitlines()
    assert len(tables.signals) == len(lines)
    assert tables.connections["vantage"].to_list() == ["client", "server"]
    tokens = [re.findall(r"token=(\w+)", line) for line in lines if "CREATED" in line]
    own = tables.connections.row(0, named=True)["client_token"]
    other = tables.connections.row(1, named=True)["server_token"]
    assert [[f"{own:08x}"], [f"{other:08x}"]] == tokens
    for number in (0, 1):
        subflows = tables.subflows.filter(connection=number)
        assert subflows["kind"].to_list() == ["initial", "join"]
        assert subflows["client_address"].to_list() == ["10.0.1.2", "10.0.2.2"]
        assert subflows["client_address_id"].to_list() == [None, 2]
    created, joined = (
        re.match(r"\[\S+:(\d\d\.\d+)\]", next(line for line in lines if event in line))
        for event in (" CREATED", "SF_ESTABLISHED")
    )
    assert created is not None
    assert joined is not None
    assert tables.subflows["join_time_ms"].to_list()[1] == pytest.approx(
        1000 * (float(joined[1]) - float(created[1])), abs=0.01
    )
