"""What simulators and emulators write: held to captures of the same packets, and to each other."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import polars as pl
import pytest

from described import described
from mptcplab import Error, analyze, compare, write_report
from tools import TOOLS, row, tool


def text(name: str) -> str:
    return (TOOLS / name).read_text()


def trace() -> str:
    return gzip.decompress((TOOLS / "ns3.tr.gz").read_bytes()).decode()


def test_a_trace_of_ns3_shows_what_its_captures_of_both_ends_show() -> None:
    """Captures have packets that leave the queue of a device, the trace those that enter it."""
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
    assert row(tables.connections, protocol="tcp")["start_s"] == 0.0
    assert sorted(tables.connections["protocol"].to_list()) == ["tcp", "udp"]


def test_a_trace_of_one_device_is_a_capture_at_its_end(tmp_path: Path) -> None:
    """Without the names of nodes, as it is written where the stream is a device's own."""
    own = [line for line in trace().splitlines() if "/NodeList/0/" in line]
    (tmp_path / "own.tr").write_text("".join(re.sub(r"/Node\S+ ", "", f"{one}\n") for one in own))
    tables = analyze(tmp_path / "own.tr")
    assert row(tables.connections, protocol="tcp")["vantage"] == "client"
    flow = row(tables.flows, connection=0, direction="up")
    whole = row(tool("ns3.tr.gz").flows, connection=0, direction="up")
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


def test_flows_of_which_nothing_arrived_have_no_throughput(tmp_path: Path) -> None:
    """FlowMonitor has 0 for the times of what never came."""
    flows = text("ns3-flows.xml")
    for stats in re.findall("<Flow flowId.*timeFirstTx.*>", flows):
        none = re.sub(r'(time(?:First|Last)Rx\w+)="[^"]*"', r'\1="+0ns"', stats)
        flows = flows.replace(stats, re.sub(r'(rx\w+)="\d+"', r'\1="0"', none))
    (tmp_path / "flows.xml").write_text(re.sub("<bin .*/>", "", flows))
    tables = analyze(tmp_path / "flows.xml")
    assert tables.connections["protocol"].to_list() == ["tcp", "udp"]
    assert tables.connections["duration_s"].to_list()[0] == pytest.approx(0.231347)
    moved = row(tables.transfers)
    assert (moved["bytes"], moved["elapsed_s"], moved["throughput_mbps"]) == (0, None, None)
    flow = row(tables.flows)
    assert (flow["data_packets"], flow["lost_packets"]) == (20, 20)
    assert flow["one_way_delay_ms_median"] is None


def test_ns3_and_a_capture_are_compared() -> None:
    found = compare(TOOLS / "ns3.tr.gz", TOOLS / "ns3" / "client.pcap.gz")
    values = {
        one.figure: (one.a, one.b)
        for one in found.figures
        if one.direction == "up" and one.subflow is None
    }
    assert values["loss_rate_percent"][0] == pytest.approx(values["loss_rate_percent"][1])


def test_a_log_of_mahimahi_is_what_the_link_carried() -> None:
    """By its documentation: 12 Mbit/s, and three bursts of 30 packets into a queue of 20."""
    tables = tool("mahimahi-uplink.log")
    flow = row(tables.flows, direction="up")
    assert (flow["packets"], flow["lost_packets"], flow["bytes"]) == (90, 30, 60 * 1500)
    assert tables.subflows["path"].to_list() == ["uplink"]
    # In one burst a packet waits a millisecond longer than the one before it.
    assert tables.queues["queue_delay_ms"].to_list() == [*range(20)] * 3
    assert tables.queues["queued_packets"].to_list() == [*range(19, -1, -1)] * 3
    assert tables.queues["queued_bytes"][0] == 19 * 1500
    # An opportunity a millisecond for 200 ms, from the base on; the clock began at init.
    assert row(tables.transfers, direction="up")["elapsed_s"] == pytest.approx(0.199)
    assert tables.connections["start_ns"].to_list() == [(1_795_725_855_123 + 42) * 10**6]
    assert tables.throughput.filter(subflow=0)["bytes"].to_list() == [90_000]


def test_vectors_of_inet_are_state_samples_and_transfers() -> None:
    """Written by the documentation of the format, with the names of INET 4."""
    tables = tool("omnetpp.vec")
    assert tables.subflows["path"].to_list() == ["client.tcp.conn-3", "server.app[0]"]
    assert tables.rtt.select("direction", "rtt_ms", "record").rows() == [
        ("up", pytest.approx(42.3), 29),
        ("up", pytest.approx(46.1), 32),
    ]
    # A value holds until the next one.
    state = tables.state.select("host", "cwnd_packets", "ssthresh_packets", "srtt_ms").rows()
    assert state == [
        ("client", 10, None, None),
        ("client", 12, None, pytest.approx(42.3)),
        ("client", 12, None, pytest.approx(42.775)),
        ("client", 6, 6.0, pytest.approx(42.775)),
    ]
    flow = row(tables.flows, connection=1)
    assert (flow["direction"], flow["bytes"], flow["packets"]) == ("up", 5792, 3)
    assert flow["one_way_delay_ms_median"] == pytest.approx(22.5)
    over_time = tables.throughput.filter(connection=1, subflow=0)
    assert over_time["bytes"].to_list() == [2896, 2896]
    assert tables.connections["start_ns"].to_list() == [142_300_000, 241_200_000]


def test_scalars_of_inet_are_sums_without_times() -> None:
    tables = tool("omnetpp.sca")
    moved = tables.transfers.select("direction", "bytes", "elapsed_s", "throughput_mbps")
    assert moved.rows() == [("up", 5792, None, None)]
    assert tables.flows["packets"].to_list() == [3]
    assert tables.connections["duration_s"].to_list() == [None]
    assert tables.throughput.is_empty()


def test_vectors_of_older_inet_have_names_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "old.vec").write_text(
        'version 2\nrun General-0\nattr network Net\nvector 7  Net.cli.tcp  "measured RTT"  ETV\n'
        'vector 8  Net.cli.tcp  "smoothed RTT"  TV\n7\t3\t0.5\t0.04\n8\t0.5\t0.045\n'
    )
    tables = analyze(tmp_path / "old.vec")
    assert tables.rtt["rtt_ms"].to_list() == [40.0]
    assert tables.state["srtt_ms"].to_list() == [45.0]


def test_mixed_tools_are_one_page(tmp_path: Path) -> None:
    names = ["ns3.tr.gz", "omnetpp.vec", "mahimahi-uplink.log", "iperf2.txt", "iperf3-text.txt"]
    for name in names:
        (tmp_path / name).write_bytes((TOOLS / name).read_bytes())
    page = described(write_report(tmp_path, tmp_path / "page.html"))
    shown = {one["name"].partition(",")[0] for one in page["subflows"]}
    assert shown == set(names)
    assert len(compare(TOOLS / "iperf2.txt", TOOLS / "ns3-flows.xml").figures) > 0


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
        (
            "ns3.tr",
            lambda: trace().replace("length: ", "length: 9999999", 1),
            r", line \d+: has a number that no header holds",
        ),
        *(
            (
                "ns3.tr",
                lambda time=time: trace().replace("+ 0.1 ", f"+ {time} ", 1),
                rf", line 1: '{re.escape(time[:30])}' is no time of a simulation: seconds from 0",
            )
            for time in ("5000000000", "1e18", "1e400", "-1", "1" * 5000)
        ),
        (
            "up.log",
            lambda: text("mahimahi-uplink.log").replace("42 # 1504", f"{'9' * 20} + 1504", 1),
            r", line \d+: 9+ ms is no time of a log that mm-link writes",
        ),
        (
            "up.log",
            lambda: text("mahimahi-uplink.log").replace("42 # 1504", "42 # many", 1),
            r", line \d+: '42 # many' is no event of mm-link: TIME \+ BYTES",
        ),
        (
            "up.log",
            lambda: text("mahimahi-uplink.log").replace("# base", "# no", 1),
            ': has no "# base timestamp"',
        ),
        (
            "up.log",
            lambda: text("mahimahi-uplink.log").partition("42 + ")[0],
            ": holds no packet: nothing was sent over this direction",
        ),
        (
            "General.vec",
            lambda: text("omnetpp.vec").replace("\t17376", "", 1),
            r", line 31: '0 31 0.1846' is no sample of vector 0",
        ),
        (
            "General.vec",
            lambda: text("omnetpp.vec").replace("vector 0", "vector 9", 1),
            ", line 28: has no line before it that says what vector 0 is",
        ),
        (
            "General.sca",
            lambda: text("omnetpp.sca").replace("count 3", "count three", 1),
            ", line 10: 'scalar ClientServer.server.app.* is no entry of OMNeT",
        ),
        (
            "ns3.sca",
            lambda: 'run 1\nattr experiment "bulk"\nscalar . strategy "a"\nscalar node rx 15\n',
            ": has nothing that INET's TCP .*: there is 'rx'",
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
