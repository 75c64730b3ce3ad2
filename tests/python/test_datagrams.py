"""Datagrams: what the example shows is what is known of it, and what tshark says."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from command import Run
from mptcplab import analyze
from requirements import need_tool

EXAMPLE = Path(__file__).parents[2] / "examples" / "datagrams"
ENDS = [str(EXAMPLE / f"{end}.pcap.gz") for end in ("client", "server")]
PATHS = {"192.0.2.18": "wifi", "198.51.100.7": "lte"}


def test_figures_are_what_became_of_the_datagrams() -> None:
    truth = json.loads((EXAMPLE / "truth.json").read_text())
    analysis = analyze(ENDS)
    protocols = dict(analysis.connections.select("connection", "protocol").iter_rows())
    addresses = {
        (row["connection"], row["subflow"]): row["client_address"]
        for row in analysis.subflows.iter_rows(named=True)
    }
    shown = {}
    for row in analysis.flows.iter_rows(named=True):
        is_call = protocols[row["connection"]] == "udp"
        path = "call" if is_call else PATHS[addresses[row["connection"], row["subflow"]]]
        shown[f"{path} {row['direction']}"] = {
            "sent": row["packets"],
            "lost": row["lost_packets"],
            "reordered": row["reordered_packets"],
        }
    assert shown == truth


def test_delays_are_those_of_the_links() -> None:
    """The offset of the clocks is known to within the difference of the directions."""
    analysis = analyze(ENDS)
    for subflow, least_ms in ((0, 12), (1, 30)):
        delays = analysis.flows.filter(connection=1, subflow=subflow)["one_way_delay_ms_median"]
        assert all(least_ms - 0.5 < delay < least_ms + 3 for delay in delays)


@pytest.mark.parametrize("name", ENDS)
def test_tshark_counts_the_same(name: str) -> None:
    need_tool("tshark")
    fields = ["ip.src", "udp.srcport", "ip.dst", "udp.dstport", "udp.length"]
    command = ["tshark", "-r", name, "-T", "fields", *(f"-e{field}" for field in fields)]
    packets, sizes = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split(
        "\n"
    ):
        if line:
            *ends, length = line.split("\t")
            packets[tuple(ends)] += 1
            sizes[tuple(ends)] += int(length) - 8
    analysis = analyze([name])
    ours, bytes_ = {}, {}
    joined = analysis.flows.join(analysis.subflows, on=["connection", "subflow"])
    for row in joined.iter_rows(named=True):
        sides = [
            (row[f"{side}_address"], str(row[f"{side}_port"])) for side in ("client", "server")
        ]
        if row["direction"] == "down":
            sides.reverse()
        key = (*sides[0], *sides[1])
        ours[key], bytes_[key] = row["packets"], row["bytes"]
    assert (ours, bytes_) == (packets, sizes)


def test_tshark_sees_the_same_connection_ids() -> None:
    """Of the first long header of each side."""
    need_tool("tshark")
    command = ["tshark", "-r", ENDS[0], "-Y", "quic.version", "-T", "fields"]
    command += ["-eudp.dstport", "-equic.version", "-equic.scid"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    first: dict[bool, tuple[str, str]] = {}
    for port, version, source in (line.split("\t") for line in lines if line):
        first.setdefault(port == "443", (version.split(",")[0], source.split(",")[0]))
    row = analyze(ENDS).connections.filter(protocol="quic").row(0, named=True)
    assert first[True] == (f"{row['quic_version']:#010x}", row["client_connection_id"])
    assert first[False][1] == row["server_connection_id"]


def test_the_summary_has_no_columns_of_tcp(mptcplab: Run) -> None:
    shown = mptcplab("analyze", *ENDS).stdout
    assert "QUIC v1 · 2 paths" in shown
    assert "lost  reordered  one-way ms" in shown
    for word in ("RTT", "resent", "unknown", "unseen", "plain TCP"):
        assert word not in shown
    alone = mptcplab("analyze", ENDS[0]).stdout
    assert alone.count("loss, order and delay are known from captures of both ends") == 2
