"""What the page of a run says of it in sentences: its verdict."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

import mptcplab
from described import described
from mptcplab.charts.run import verdict
from mptcplab.charts.run.subject import Subject
from mptcplab.labels.text import at, figure, milliseconds, rate
from mptcplab.results.comparison import Comparison, open_comparison
from mptcplab.results.contributions import contributions


def test_the_verdict_is_made_of_figures(comparison: Comparison) -> None:
    page = described(comparison.report())
    mptcp = comparison.mptcp
    assert comparison.best_path
    assert comparison.gain is not None
    assert mptcp.throughput_mbps
    assert (
        f"MPTCP moved 300 kB in {1e-6 * 300e3 * 8 / mptcp.throughput_mbps * 1e3:.0f} ms"
        in (page["verdict"][0])
    )
    gain = f"{abs(comparison.gain):.0%}".replace("%", " %")
    sense = "more" if comparison.gain > 0 else "less"
    amount = "as much" if gain == "0 %" else f"{gain} {sense}"
    assert f" Best single path: {comparison.best_path} with " in page["verdict"][0]
    assert page["verdict"][0].endswith(f"MPTCP gives {amount}.")


def test_a_gap_in_a_capture_of_another_year_has_a_time_of_its_own() -> None:
    examples = Path(__file__).parents[2] / "examples"
    # A simulator counts from 1970.
    captures = [examples / "tools/ns3/client.pcap.gz", examples / "datagrams/client.pcap.gz"]
    analysis = mptcplab.analyze(captures)
    (row,) = analysis.transfers.filter(pl.col("gaps") > 0).rows(named=True)
    (connection,) = analysis.connections.filter(connection=row["connection"]).rows(named=True)
    said = verdict.sentences(Subject(analysis, connection, row["direction"]))
    (gap,) = (one for one in said if one.startswith("The longest time without new data"))
    (alone,) = mptcplab.analyze(captures[1]).transfers.filter(pl.col("gaps") > 0).rows(named=True)
    assert alone["longest_gap_ms"] == pytest.approx(row["longest_gap_ms"])
    starts = mptcplab.analyze(captures[1]).connections["start_s"][alone["connection"]]
    assert gap.endswith(f", from {at(alone['longest_gap_start_s'] - starts)} on.")


def test_the_verdict_says_what_each_path_brought(comparison: Comparison, lost: Comparison) -> None:
    """Rates that add up to MPTCP's, beside those of the paths alone, and the price."""
    for one in (comparison, lost):
        own, sentences = one.mptcp, described(one.report())["verdict"]
        (sentence,) = (said for said in sentences if said.startswith("Of "))
        flows = own.flows.filter(direction="down").sort("subflow").rows(named=True)
        assert sum(flow["throughput_mbps"] for flow in flows) == pytest.approx(own.throughput_mbps)
        assert sentence.startswith(f"Of {rate(own.throughput_mbps)}, wifi carried ")
        for (path, run), flow in zip(one.baselines.items(), flows, strict=True):
            carried = figure(flow["throughput_mbps"]) if flow["share"] else "nothing"
            assert f"{path} carried {carried} (alone {figure(run.throughput_mbps)})" in sentence
            assert (f" at an RTT of {milliseconds(flow['rtt_ms_mean'])}" in sentence) == bool(
                flow["share"]
            )
        assert own.transfer
        waited = own.transfer["out_of_order_delay_ms_mean"]
        assert ("data waited" in sentence) == bool(waited)
        assert not waited or f"; data waited {milliseconds(waited)} on average for " in sentence


def test_what_paths_brought_is_left_out_where_throughput_is_not_what_counts(
    comparison: Comparison,
) -> None:
    assert contributions(Comparison(comparison.directory, comparison.mptcp, {})) is None
    asked = open_comparison(comparison.directory)
    assert contributions(asked) is not None
    assert asked.mptcp.transfer
    asked.mptcp.transfer["response_time_ms_mean"] = 1.0
    assert contributions(asked) is None


def test_a_run_over_quic_is_told_as_one(comparison: Comparison) -> None:
    """Flows of QUIC count what is resent, too, and a path that carried data was answered."""
    ran = open_comparison(comparison.directory)
    for run in ran.runs:
        run.about["protocol"] = "quic"
    sentence = contributions(ran)
    assert sentence
    assert re.search(r"wifi carried [\d.]+ % \(alone [\d.]+ Mbit/s\)", sentence)
    page = described(ran.report())
    assert "MPQUIC beside QUIC over each path" in {one["title"] for one in page["tables"]}
    assert "Throughput beside QUIC" in {one["title"] for one in page["charts"]}
    examples = Path(__file__).parents[2] / "examples" / "datagrams"
    analysis = mptcplab.analyze([examples / "client.pcap.gz", examples / "server.pcap.gz"])
    connection = analysis.connections.filter(protocol="quic")["connection"][0]
    subject = Subject.of(analysis, connection)
    for row in subject.subflows:
        row["handshake"] = "unanswered"
    said = " ".join(verdict.sentences(subject))
    assert said.startswith("QUIC moved ")
    assert "was unanswered" not in said


def test_the_verdict_begins_with_what_held_the_transfer_back(lost: Comparison) -> None:
    """What slowed it comes first, then whether MPTCP helped, and how much."""
    sentences = described(lost.report())["verdict"]
    assert sentences[0].startswith("wifi delivered nothing from ")
    (moved,) = (i for i, said in enumerate(sentences) if said.startswith("MPTCP moved "))
    assert sentences[moved].endswith("% more.")
    assert sentences[moved + 1].startswith("Of ")


def test_queues_are_in_the_order_of_the_subflows(lost: Comparison) -> None:
    page = described(lost.report())
    (queues,) = (chart for chart in page["charts"] if chart["id"] == "queues")
    assert [one["subflow"] for one in queues["series"]] == [0, 1]


def test_the_verdict_leaves_the_count_of_the_send_buffer_to_the_finding(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linux counts on where a larger one changes nothing; its count of full windows is right."""
    from mptcplab.charts.run import verdict

    subject = Subject.of(comparison)
    counts = {"busy_ms": 1000.0, "window_limited_ms": 300.0, "buffer_limited_ms": 440.0}
    tables = {
        "state": subject.table("state").with_columns(
            **{name: pl.lit(value) for name, value in counts.items()}
        )
    }
    table = Subject.table
    monkeypatch.setattr(Subject, "table", lambda self, name: tables.get(name, table(self, name)))
    lines = verdict.sentences(subject)
    assert "The receiver's window held wifi back for 30 % of its busy time." in lines
    assert not [one for one in lines if "send buffer" in one]


LOSSY = {
    "schema": 1,
    "transfer": {"direction": "download", "size": "300 kB"},
    "path": {
        "wifi": {"rate": "10 Mbit/s", "delay": "10 ms", "loss": "8 %", "queue": "30 kB"},
        "lte": {"rate": "8 Mbit/s", "delay": "25 ms", "loss": "4 %"},
    },
    # The seed is one with which, by these policies, one SYN/ACK alone is lost without data.
    "mptcp": {"congestion_control": "lia", "scheduler": "lowest-rtt"},
    "run": {"baselines": False},
}


def test_the_verdict_tells_lost_data_from_a_lost_handshake(tmp_path: Path) -> None:
    """Packets with data are those that the analysis misses at the other end."""
    comparison = mptcplab.run(LOSSY, seed=12, out=tmp_path / "runs")
    run, lines = comparison.mptcp, described(comparison.report())["verdict"]
    (data,) = (one for one in lines if one.startswith("Packets with data that did not arrive: "))
    numbers = [int(number) for number in re.findall(r"(\d+) (?:by|at|in|to) ", data)]
    lost = run.flows.filter(direction="down")["lost_packets"].sum()
    assert sum(numbers) == lost
    # A packet more did not arrive: what answered the first SYN, which RFC 6298 repeats after 1 s.
    assert run.drops.filter(direction="down").height == lost + 1
    (handshake,) = (one for one in lines if one.startswith("The handshake of "))
    join_time_ms = run.subflows["join_time_ms"][0]
    assert join_time_ms > 1000
    assert (
        handshake == f"The handshake of wifi took {join_time_ms / 1e3:.2f} s, with 1 SYN/ACK lost."
    )
