"""Our figures of TCP flows are tcptrace's, but for rules of which each is named.

That the model in tcptrace_rules gives tcptrace's own figures, test_oracles holds. Here the same
model, with the rules of OURS instead, must give ours: what differs, those rules explain in full.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

import mptcplab
from oracles import tcptrace, tcptrace_rules, tshark
from oracles.conftest import CASES, Case, timing_tells_the_end
from oracles.order import in_order
from oracles.tcptrace_rules import OURS, Sent
from oracles.tshark import FourTuple

Row = dict[str, Any]
Flow = dict[str, Row]  # by direction
Pairs = list[tuple[FourTuple, Row, Sent]]


def flows(analysis: mptcplab.Analysis) -> dict[FourTuple, list[Flow]]:
    """Our rows by 4-tuple, either end first; several where ports were used again."""
    found: dict[FourTuple, list[Flow]] = defaultdict(list)
    rows: dict[tuple[int, int], Flow] = defaultdict(dict)
    for row in analysis.flows.iter_rows(named=True):
        rows[row["connection"], row["subflow"]][row["direction"]] = row
    for subflow in analysis.subflows.sort("start_s").iter_rows(named=True):
        both = rows[subflow["connection"], subflow["subflow"]]
        client = (subflow["client_address"], subflow["client_port"])
        server = (subflow["server_address"], subflow["server_port"])
        found[*client, *server].append(both)
        found[*server, *client].append({"up": both["down"], "down": both["up"]})
    return found


@pytest.fixture(scope="module")
def analysis(case: Case) -> mptcplab.Analysis:
    return mptcplab.analyze(case.capture)


@pytest.fixture(scope="module")
def pairs(case: Case, analysis: mptcplab.Analysis) -> Pairs:
    """Our row and the model with our rules, of every flow and direction."""
    ours = flows(analysis)
    packets = in_order(tshark.read(case.capture))
    count: dict[FourTuple, int] = defaultdict(int)
    found = []
    for key, up, down in tcptrace_rules.flows(packets, OURS):
        both = ours[key][count[key]]
        count[key] += 1
        found += [(key, both["up"], up), (key, both["down"], down)]
    assert sum(count.values()) == analysis.subflows.height
    return found


def test_bytes_need_no_rule(case: Case, analysis: mptcplab.Analysis) -> None:
    theirs = tcptrace.by_four_tuple(tcptrace.read(case.capture))
    for key, both in flows(analysis).items():
        if case.is_simulated and ":" in key[0]:
            # tcptrace sees no IPv6 in captures of raw IP packets.
            assert key not in theirs
            continue
        if len(both) > 1 or len(theirs[key]) > 1:
            # Ports were used again: which packet is the first of the new flow, a rule says.
            continue
        ((flow,), (own,)) = (theirs[key], both)
        ends = (flow.a, flow.b) if flow.four_tuple == key else (flow.b, flow.a)
        for direction, sent in zip(("up", "down"), ends, strict=True):
            row = own[direction]
            assert (key, row["packets"]) == (key, sent.packets)
            # What meets a window of 0 is a probe to tcptrace, also where it is new data.
            probed = sent.zero_window_probe_bytes
            assert sent.unique_bytes <= row["bytes"] <= sent.unique_bytes + probed, key


def test_what_was_sent(pairs: Pairs) -> None:
    names = {
        "packets": "packets",
        "data_packets": "data_packets",
        "data_bytes": "data_bytes",
        "bytes": "unique_bytes",
        "duplicate_packets": "repeated_packets",
        "gap_filled_packets": "gap_packets",
        "zero_window_probe_packets": "zero_window_probes",
        "keep_alive_packets": "keep_alives",
        "merged_segments": "merged_segments",
    }
    for key, row, model in pairs:
        for ours, theirs in names.items():
            assert (key, ours, row[ours]) == (key, ours, getattr(model, theirs))


def test_what_was_sent_again(pairs: Pairs) -> None:
    for key, row, model in pairs:
        if row["retransmitted_packets"] is not None:
            assert (key, row["retransmitted_packets"]) == (key, model.resent_packets)
            assert (key, row["retransmitted_bytes"]) == (key, model.resent_bytes)


def test_round_trip_times(pairs: Pairs, analysis: mptcplab.Analysis) -> None:
    samples: dict[tuple[int, int, str], list[int]] = defaultdict(list)
    for sample in analysis.rtt.iter_rows(named=True):
        flow = (sample["connection"], sample["subflow"], sample["direction"])
        samples[flow].append(round(sample["rtt_ms"] * 1e6))
    for key, row, model in pairs:
        if row["rtt_samples"] is None:
            continue
        times = model.rtts_of_data()
        own = samples[row["connection"], row["subflow"], row["direction"]]
        assert (key, own) == (key, times)
        assert row["rtt_samples"] == len(times)
        if times:
            assert round(row["rtt_ms_min"] * 1e6) == min(times)
            assert round(row["rtt_ms_max"] * 1e6) == max(times)
            assert round(row["rtt_ms_mean"] * 1e6 * len(times)) == sum(times)


@pytest.mark.parametrize("case", [one for one in CASES if timing_tells_the_end(one)], indirect=True)
def test_each_end_tells_what_it_can_know(case: Case, analysis: mptcplab.Analysis) -> None:
    sends = "up" if case.end == "client" else "down"
    assert set(analysis.connections["vantage"]) == {case.end}
    for row in analysis.flows.iter_rows(named=True):
        for name in ("rtt_samples", "retransmitted_packets", "retransmitted_bytes"):
            assert (row[name] is not None) == (row["direction"] == sends)
