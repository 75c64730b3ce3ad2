"""What iperf3 and iperf 2 print as text and as CSV: one end held to what the other wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from mptcplab import Error, analyze
from tools import TOOLS, row, tool

# Text has three digits.
ROUNDED = 0.005


def test_the_text_of_a_client_tells_what_the_json_of_its_server_tells() -> None:
    client, server = tool("iperf3-text.txt"), tool("iperf3-text-server.json")
    ends = ["client_address", "client_port", "server_address", "server_port", "source", "ended"]
    assert client.connections.select(ends).equals(server.connections.select(ends))
    assert set(client.connections["vantage"]) == {"client"}
    for number in (0, 1):
        here, there = (row(one.transfers, connection=number) for one in (client, server))
        assert here["direction"] == there["direction"] == "up"
        assert here["bytes"] == pytest.approx(there["bytes"], rel=ROUNDED)
        assert here["elapsed_s"] == pytest.approx(there["elapsed_s"], abs=0.01)
        over_time = [
            one.throughput.filter(connection=number, subflow=0)["bytes"].sum()
            for one in (client, server)
        ]
        assert over_time[0] == pytest.approx(over_time[1], rel=0.15)
    # The beginning, which -V prints in whole seconds.
    starts = [one.connections["start_ns"][0] / 1e9 for one in (client, server)]
    assert starts[0] == pytest.approx(starts[1], abs=1)
    state = client.state.filter(connection=0)
    lines = [
        line
        for line in (TOOLS / "iperf3-text.txt").read_text().splitlines()
        if line.startswith("[  5] ") and "MBytes" in line.partition("/sec")[2]
    ]
    again = [int(line.split("/sec")[1].split()[0]) for line in lines]
    assert state["retransmitted_packets"].to_list() == [sum(again[: one + 1]) for one in range(4)]
    mss, cwnd = 32768, float(lines[0].split("/sec")[1].split()[1]) * 1024**2
    assert state["cwnd_packets"][0] == round(cwnd / mss)
    assert {"rounded", "rough_clock"} <= set(client.diagnostics["diagnostic"])


def test_text_of_a_reverse_test_over_udp_tells_at_both_ends_what_was_lost() -> None:
    client, server = tool("iperf3-text-udp.txt"), tool("iperf3-text-udp-server.txt")
    for one in (client, server):
        assert one.transfers["direction"].to_list() == ["down"]
        assert one.connections["protocol"].to_list() == ["udp"]
    text = (TOOLS / "iperf3-text-udp.txt").read_text()
    received = next(line for line in text.splitlines() if line.endswith("receiver"))
    lost, total = received.split(" ms ")[1].split()[0].split("/")
    flow = row(client.flows, connection=0)
    assert (flow["data_packets"], flow["lost_packets"]) == (int(total), int(lost))
    # The sender does not know.
    assert row(server.flows, connection=0)["lost_packets"] is None
    assert (
        "no_clock"
        in analyze([TOOLS / "iperf3-text-udp.txt", TOOLS / "iperf3-text.txt"])
        .diagnostics["diagnostic"]
        .to_list()
    )


def test_iperf2_tells_as_text_what_the_other_end_tells_as_csv() -> None:
    client, server = tool("iperf2.txt"), tool("iperf2-server.csv")
    ends = ["client_address", "client_port", "server_address", "server_port", "source", "ended"]
    assert client.connections.select(ends).equals(server.connections.select(ends))
    here, there = (row(one.transfers, direction="up") for one in (client, server))
    assert there["bytes"] == 2_752_572
    assert there["throughput_mbps"] == pytest.approx(10.995548)
    assert here["bytes"] == pytest.approx(there["bytes"], rel=ROUNDED)
    # The enhanced client says what its kernel knows; the handshake is irtt.
    assert client.state["srtt_ms"].to_list() == [2.756, 1.331, 0.752, 0.5]
    assert client.state["rttvar_ms"].to_list() == [5.323, 2.351, 1.222, 0.714]
    assert set(client.state["cwnd_packets"]) == {36}
    assert client.subflows["handshake_rtt_ms"].to_list() == [0.032]
    assert server.state.is_empty()
    # A server's CSV does not say that it is one.
    assert (client.connections["vantage"][0], server.connections["vantage"][0]) == ("client", None)


def test_iperf2_knows_of_lost_datagrams_where_they_arrive() -> None:
    client, server = tool("iperf2-udp.csv"), tool("iperf2-udp-server.txt")
    assert (client.connections["vantage"][0], server.connections["vantage"][0]) == (
        "client",
        "server",
    )
    sent, came = (row(one.flows, direction="up") for one in (client, server))
    assert (sent["bytes"], sent["data_packets"], sent["lost_packets"]) == (529_200, None, None)
    assert (came["data_packets"], came["lost_packets"]) == (360, 0)
    assert came["bytes"] == pytest.approx(360 * 1470, rel=ROUNDED)


def test_both_directions_of_a_full_duplex_test_are_of_one_connection() -> None:
    client, server = tool("iperf2-full.txt"), tool("iperf2-full-server.txt")
    for one in (client, server):
        assert len(one.connections) == 1
        assert set(one.transfers["direction"]) == {"up", "down"}
    for direction in ("up", "down"):
        here, there = (row(one.transfers, direction=direction) for one in (client, server))
        assert here["bytes"] == pytest.approx(there["bytes"], rel=2 * ROUNDED)
    # It lasted as long as the direction that took longest.
    assert client.connections["duration_s"][0] == pytest.approx(1.1274)


def test_titles_of_newer_csv_name_its_columns(tmp_path: Path) -> None:
    """As version 2.2 writes it, by its documentation."""
    titles = "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed"
    more = "writecnt,writeerr,tcpretry,tcpcwnd,tcppcwnd,tcprtt,tcprttvar"
    ends = "192.0.2.2,37818,203.0.113.1,5001"
    (tmp_path / "new.csv").write_text(
        f"{titles},{more}\n"
        f"+0200:20260908103114.550,{ends},1,0.0,1.0,1000000,8000000,8,0,2,14,10,21000,900\n"
        f"+0200:20260908103115.550,{ends},1,1.0,2.0,500000,4000000,4,0,1,7,5,25000,800\n"
        f"+0200:20260908103115.550,{ends},1,0.0,2.0,1500000,6000000,12,0,3,7,5,25000,800\n"
        f"+0200:20260908103115.550,{ends},-1,0.0,2.0,1500000,6000000,12,0,3,-1,-1,0,0\n"
    )
    tables = analyze(tmp_path / "new.csv")
    assert tables.transfers.select("bytes", "elapsed_s").row(0) == (1_500_000, 2.0)
    state = tables.state.select("cwnd_packets", "srtt_ms", "retransmitted_packets")
    assert state.rows() == [(10, 21.0, 2), (5, 25.0, 3)]
    assert tables.connections["start_ns"].to_list() == [1_788_856_273_550_000_000]
    assert "supposed_clock" not in tables.diagnostics["diagnostic"].to_list()


def test_lines_of_iperf2_that_are_no_intervals_are_passed_over(tmp_path: Path) -> None:
    """As versions 2.0 and 2.1 print them, from a server of version 2.0."""
    (tmp_path / "server.txt").write_text(
        "Server listening on UDP port 5001\n"
        "[  3] local 192.0.2.1 port 5001 connected with 192.0.2.2 port 40000\n"
        "[ ID] Interval       Transfer     Bandwidth        Jitter   Lost/Total Datagrams\n"
        "[  3]  0.0- 1.0 sec   128 KBytes  1.05 Mbits/sec   0.031 ms    2/   93 (2.2%)\n"
        "[  3]  1.0- 2.0 sec   128 KBytes  1.05 Mbits/sec   0.022 ms    0/   90 (0%)\n"
        "[  3]  0.0- 2.0 sec   256 KBytes  1.05 Mbits/sec   0.022 ms    2/  183 (1.1%)\n"
        "[  3]  0.0- 2.0 sec  1 datagrams received out-of-order\n"
        "[  3]  0.0- 2.0 sec T8-PDF: bin(w=10us):cnt(181)=1:181\n"
    )
    flow = row(analyze(tmp_path / "server.txt").flows, direction="up")
    assert (flow["bytes"], flow["data_packets"], flow["lost_packets"]) == (256 * 1024, 183, 2)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("iperf3-text.txt", "0.50-1.00   sec", "0.50-1.00   min", r"line \d+: '\[  5\] .* no inte"),
        ("iperf3-text.txt", "local", "remote", r"line \d+: has no line before it that says what"),
        ("iperf3-text.txt", "/sec", "", r"line \d+: .* is no interval as iperf3 prints it"),
        ("iperf2.txt", "Mbits/sec", "", r"line \d+: .* is no interval of iperf 2"),
        ("iperf2-server.csv", "0.5-1.0", "x-y", r"line 2: .* is no line of iperf -y C, which has"),
        ("iperf2-server.csv", ",655360", "", r"line 2: .* is no line of iperf -y C, which has"),
    ],
)
def test_damaged_lines_are_named(
    name: str, old: str, new: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text((TOOLS / name).read_text().replace(old, new))
    with pytest.raises(Error, match=message) as refused:
        analyze(tmp_path / name)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "interval", "until"),
    [
        ("iperf3-text.txt", "1.00-1.50", " Mbits"),
        ("iperf2.txt", "1.0000-1.5000", " Mbits"),
        ("iperf2-server.csv", "1.0-1.5", ",655360"),
    ],
)
def test_a_last_line_that_is_cut_is_left_out(
    name: str, interval: str, until: str, tmp_path: Path
) -> None:
    before, _, rest = (TOOLS / name).read_text().partition(interval)
    (tmp_path / name).write_text(before + interval + rest.partition(until)[0])
    tables = analyze(tmp_path / name)
    assert not tables.complete
    assert "file_cut" in tables.diagnostics["diagnostic"].to_list()
    assert set(tables.connections["ended"]) == {"open"}


def test_what_could_not_connect_says_so(tmp_path: Path) -> None:
    (tmp_path / "refused").write_text(
        "Connecting to host 192.0.2.1, port 5201\n"
        "iperf3: error - unable to connect to server: Connection refused\n"
    )
    with pytest.raises(Error, match="refused: iperf3 says: unable to connect to server: Connecti"):
        analyze(tmp_path / "refused")
    (tmp_path / "refused").write_text(
        "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed\n"
    )
    with pytest.raises(Error, match="refused, line 1: holds no line of a test"):
        analyze(tmp_path / "refused")
    (tmp_path / "refused").write_text(
        "Client connecting to 192.0.2.1, TCP port 5001\ntcp connect failed: Connection refused\n"
    )
    with pytest.raises(Error, match="refused: iperf says: connect failed: Connection refused"):
        analyze(tmp_path / "refused")
