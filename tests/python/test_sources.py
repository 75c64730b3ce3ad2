"""What files of other tools tell: held to the tools' figures, to the other end, to a capture."""

from __future__ import annotations

import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from mptcplab import analyze
from mptcplab.sources.ranges import Ranges
from tools import DRIVE, TOOLS, document, row, tool


def test_iperf3_tells_of_a_download_what_a_capture_of_it_shows() -> None:
    captured, tables = (tool(name) for name in ("client.pcapng.gz", "iperf3-download.json"))
    ends = ["client_address", "client_port", "server_address", "server_port", "protocol"]
    own = tables.connections.row(0, named=True)
    same = row(captured.connections, client_port=own["client_port"])
    assert {end: own[end] for end in ends} == {end: same[end] for end in ends}
    moved, reported = (
        row(one.transfers, connection=number, direction="down")
        for one, number in ((captured, same["connection"]), (tables, 0))
    )
    assert reported["bytes"] == moved["bytes"] == 655_360
    # From the first data on, and from the first SYN on.
    assert moved["throughput_mbps"] < reported["throughput_mbps"] < 1.2 * moved["throughput_mbps"]
    # What the sender's kernel sent again filled a gap here.
    filled = row(captured.flows, connection=same["connection"], direction="down")
    assert tables.flows["retransmitted_packets"].to_list() == [filled["gap_filled_packets"]]
    assert tables.throughput.filter(pl.col("subflow").is_null())["bytes"].sum() == moved["bytes"]
    assert tables.rtt.is_empty()
    assert tables.connections["source"].to_list() == ["iperf3"]
    assert captured.connections["source"].null_count() == 2


def test_streams_are_connections_and_their_kernels_state_is_state() -> None:
    tables, written = tool("iperf3-upload.json"), document("iperf3-upload.json")
    assert tables.connections["client_port"].to_list() == [
        one["local_port"] for one in written["start"]["connected"]
    ]
    for number, end in enumerate(written["end"]["streams"]):
        moved = row(tables.transfers, connection=number)
        assert (moved["direction"], moved["bytes"]) == ("up", end["receiver"]["bytes"])
        assert moved["throughput_mbps"] == pytest.approx(end["receiver"]["bits_per_second"] / 1e6)
        state = tables.state.filter(connection=number)
        intervals = [one["streams"][number] for one in written["intervals"]]
        assert state["srtt_ms"].to_list() == [one["rtt"] / 1000 for one in intervals]
        assert state["cwnd_packets"].to_list() == [one["snd_cwnd"] // 1448 for one in intervals]
        assert state["retransmitted_packets"][-1] == end["sender"]["retransmits"]
        assert set(state["host"]) == {"client"}
    assert "sent_not_arrived" in tables.diagnostics["diagnostic"].to_list()


def test_a_server_tells_of_all_tests_what_their_clients_tell() -> None:
    server = tool("iperf3-server.json")
    for name in ("iperf3-download.json", "iperf3-upload.json", "iperf3-udp.json"):
        client = tool(name)
        for number, one in enumerate(client.connections.iter_rows(named=True)):
            same = row(server.connections, client_port=one["client_port"], protocol=one["protocol"])
            here, there = [
                int(row(side.transfers, connection=connection)["bytes"])
                for side, connection in ((client, number), (server, same["connection"]))
            ]
            # Datagrams that were still on their way at the end are missing at the receiver.
            assert here == there or (one["protocol"] == "udp" and 0.95 * there < here < there)
            assert (one["vantage"], same["vantage"]) == ("client", "server")


def test_datagrams_that_iperf3_misses_are_lost() -> None:
    flow = tool("iperf3-udp.json").flows.row(0, named=True)
    total = document("iperf3-udp.json")["end"]["streams"][0]["udp"]
    assert (flow["data_packets"], flow["lost_packets"]) == (total["packets"], total["lost_packets"])


def test_a_stream_of_json_is_the_document_that_it_makes(tmp_path: Path) -> None:
    whole = document("iperf3-upload.json")
    events = [
        {"event": "start", "data": whole["start"]},
        *({"event": "interval", "data": one} for one in whole["intervals"]),
        {"event": "end", "data": whole["end"]},
    ]
    lines = [json.dumps(one, separators=(",", ":")) for one in events]
    # As iperf 3.18 writes it.
    written = (TOOLS / "iperf3-stream.json").read_text().splitlines()
    shape = [line.partition('"data":')[0] for line in (written[0], *written[1:2], written[-1])]
    assert shape == [line.partition('"data":')[0] for line in (lines[0], lines[1], lines[-1])]
    real, end = tool("iperf3-stream.json"), json.loads(written[-1])["data"]
    assert real.complete
    assert real.transfers["bytes"].to_list() == [end["sum_received"]["bytes"]]
    assert real.throughput.filter(subflow=0)["bytes"].sum() == end["sum_sent"]["bytes"]
    # The MSS of loopback: 65535 bytes less IP, TCP and timestamps.
    assert set(real.state["cwnd_packets"]) == {end["streams"][0]["sender"]["max_snd_cwnd"] // 65483}
    (tmp_path / "stream").write_text("\n".join(lines) + "\n")
    tables, same = analyze(tmp_path / "stream"), tool("iperf3-upload.json")
    for table in ("connections", "transfers", "flows", "throughput", "state"):
        assert getattr(tables, table).equals(getattr(same, table)), table
    (tmp_path / "cut").write_text("\n".join(lines[:3]) + lines[3][:40])
    cut = analyze(tmp_path / "cut")
    assert not cut.complete
    assert "file_cut" in cut.diagnostics["diagnostic"].to_list()
    assert set(cut.connections["ended"]) == {"open"}


def test_both_ends_of_a_quic_connection_agree() -> None:
    client, server = tool("quic-client.qlog.gz"), tool("quic-server.qlog.gz")
    assert set(client.connections["protocol"]) == {"quic"}
    assert row(client.transfers, direction="down")["bytes"] == 400_000
    # The server knows of what was acknowledged; the last acknowledgement never came.
    assert 0.99 * 400_000 < row(server.transfers, direction="down")["bytes"] <= 400_000
    assert row(server.transfers, direction="up")["bytes"] == len("get")
    sent, came = (row(one.flows, direction="down") for one in (server, client))
    numbers = {
        name: {
            event["data"]["header"]["packet_number"]
            for event in document(file)["traces"][0]["events"]
            if event["name"] == f"transport:{name}"
            and event["data"]["header"]["packet_type"] == "1RTT"
            and any(frame["frame_type"] == "stream" for frame in event["data"]["frames"])
        }
        for name, file in (
            ("packet_sent", "quic-server.qlog.gz"),
            ("packet_received", "quic-client.qlog.gz"),
        )
    }
    assert sent["data_packets"] == len(numbers["packet_sent"])
    assert came["data_packets"] == len(numbers["packet_received"])
    assert sent["lost_packets"] == len(numbers["packet_sent"] - numbers["packet_received"]) > 0
    # Every packet that was lost, and no other, was sent again.
    assert sent["retransmitted_packets"] == sent["lost_packets"]
    late = row(client.transfers, direction="down")
    assert 0 < late["out_of_order_segments"] < late["reordering_segments"] == came["data_packets"]
    assert sent["rtt_samples"] == len(server.rtt)
    assert sent["rtt_ms_min"] == pytest.approx(server.state["min_rtt_ms"].drop_nulls()[-1])


def test_a_sequence_of_records_is_the_document_that_it_makes(tmp_path: Path) -> None:
    (trace,) = document("quic-client.qlog.gz")["traces"]
    events = trace.pop("events")
    began = events[0]["time"]
    trace["common_fields"] |= {
        "time_format": "relative_to_epoch",
        "reference_time": {"clock_type": "system", "epoch": "1970-01-01T00:00:01.000Z"},
    }
    head = {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
    }
    records = [head | {"trace": trace}, *({**one, "time": one["time"] - 1000} for one in events)]
    text = "".join(f"\x1e{json.dumps(one)}\n" for one in records)
    (tmp_path / "sequence").write_text(text)
    tables, same = analyze(tmp_path / "sequence"), tool("quic-client.qlog.gz")
    assert tables.transfers.drop("elapsed_s", "throughput_mbps").equals(
        same.transfers.drop("elapsed_s", "throughput_mbps")
    )
    assert tables.connections["start_ns"][0] == pytest.approx(began * 1e6, abs=1000)
    (tmp_path / "cut").write_text(text[:-10])
    assert not analyze(tmp_path / "cut").complete


def test_a_log_of_another_program_is_read_as_well() -> None:
    """That of quic-go's server: a sequence of records, with times since its clock's start."""
    tables = tool("quic-go.sqlog.gz")
    text = gzip.decompress((TOOLS / "quic-go.sqlog.gz").read_bytes()).decode()
    records = [json.loads(one) for one in text.replace("\x1e", "").splitlines()]
    own = tables.connections.row(0, named=True)
    started = next(one["data"] for one in records if "connection_started" in one.get("name", ""))
    assert own["client_port"] == started["remote"]["address_v4"]["port"]
    assert (own["server_address"], own["server_port"]) == ("127.0.0.1", 4433)
    assert (own["ended"], own["vantage"]) == ("closed", "server")
    began = datetime.fromisoformat(
        records[0]["trace"]["common_fields"]["reference_time"]["wall_clock_time"]
    )
    assert own["start_ns"] / 1e9 == pytest.approx(began.timestamp(), abs=1e-3)
    moved = row(tables.transfers, direction="down")
    assert moved["bytes"] == 300_000
    sent = [one["data"] for one in records if one.get("name") == "transport:packet_sent"]
    flow = row(tables.flows, direction="down")
    assert flow["packets"] == len(sent)
    assert flow["data_bytes"] == sum(
        frame["length"]
        for one in sent
        for frame in one["frames"]
        if frame["frame_type"] == "stream"
    )
    # It repeats the latest sample in every event.
    latest = [
        one["data"].get("latest_rtt") for one in records if "metrics_updated" in one.get("name", "")
    ]
    samples = [
        now for now, before in zip(latest, [None, *latest], strict=False) if now and now != before
    ]
    assert tables.rtt["rtt_ms"].to_list() == samples


def test_paths_of_a_log_are_subflows(tmp_path: Path) -> None:
    """Packets over two paths; the second's data was lost over the first before."""

    def packet(
        at: float, name: str, path: str, number: int, *frames: dict[str, Any]
    ) -> dict[str, Any]:
        header = {"packet_type": "1RTT", "packet_number": number}
        data = {"header": header, "raw": {"length": 1200}, "frames": list(frames)}
        return {"time": at, "name": f"quic:{name}", "path": path, "data": data}

    def stream(offset: int) -> dict[str, Any]:
        return {
            "frame_type": "stream",
            "stream_id": 0,
            "offset": offset,
            "raw": {"payload_length": 1000},
        }

    def ack(*ranges: list[int], path: str) -> dict[str, Any]:
        return {"frame_type": "path_ack", "path_id": path, "acked_ranges": list(ranges)}

    lost = {"header": {"packet_type": "1RTT", "packet_number": 1}, "trigger": "time_threshold"}
    events = [
        packet(0, "packet_sent", "0", 0, stream(0)),
        packet(1, "packet_sent", "0", 1, stream(1000)),
        packet(50, "packet_received", "0", 0, ack([0], path="0")),
        {"time": 100, "name": "quic:packet_lost", "path": "0", "data": lost},
        packet(101, "packet_sent", "1", 0, stream(1000)),
        packet(150, "packet_received", "1", 0, ack([0, 0], path="1")),
    ]
    head = {
        "qlog_version": "0.4",
        "qlog_format": "JSON",
        "traces": [
            {
                "vantage_point": {"type": "client"},
                "common_fields": {"time_format": "relative"},
                "events": events,
            }
        ],
    }
    (tmp_path / "multipath.json").write_text(json.dumps(head))
    tables = analyze(tmp_path / "multipath.json")
    assert tables.subflows["path"].to_list() == ["0", "1"]
    flows = tables.flows.filter(direction="up")
    assert flows["bytes"].to_list() == [1000, 1000]
    assert flows["lost_packets"].to_list() == [1, 0]
    assert flows["retransmitted_packets"].to_list() == [0, 1]
    assert row(tables.transfers, direction="up")["bytes"] == 2000
    assert row(tables.transfers, direction="up")["elapsed_s"] == pytest.approx(0.15)
    assert tables.events["detail"].to_list() == ["time_threshold"]


def test_a_drive_is_a_transfer_with_a_track(tmp_path: Path) -> None:
    (tmp_path / "dish.csv").write_text(DRIVE)
    tables = analyze(tmp_path / "dish.csv")
    assert tables.connections.select("protocol", "source").row(0) == ("udp", "satellite-cellular")
    # A row holds until the next, the last one for as long as rows usually are apart.
    assert tables.throughput.filter(subflow=0)["throughput_mbps"].to_list() == pytest.approx(
        [18, 8, 4]
    )
    assert tables.positions["latitude_deg"].to_list() == [44.98, 44.9801, 44.9802]
    assert tables.subflows["path"].to_list() == ["dish"]
    assert tables.flows["data_packets"].to_list() == [None]


def test_ranges_count_each_byte_once() -> None:
    known = Ranges()
    assert [known.add(*one) for one in ((10, 20), (30, 40), (15, 35), (0, 5), (0, 50))] == [
        10,
        10,
        10,
        5,
        15,
    ]
    assert known.in_order == 50
