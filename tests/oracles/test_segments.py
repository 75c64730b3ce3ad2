"""The rows of `segments` are tshark's packets with data, each with its place and its kind."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

import mptcplab
from oracles import tshark
from oracles.conftest import CASES, Case
from oracles.order import in_order
from oracles.ranges import Ranges
from oracles.test_mptcp_figures import MISREAD
from oracles.tshark import SYN, FourTuple, Packet

Row = dict[str, Any]
Key = tuple[int, int, str]  # connection, subflow, direction


@pytest.fixture(scope="module")
def analysis(case: Case) -> mptcplab.Analysis:
    return mptcplab.analyze(case.capture)


@pytest.fixture(scope="module")
def packets(case: Case) -> list[Packet]:
    return in_order(tshark.read(case.capture))


@pytest.fixture(scope="module")
def flows(
    analysis: mptcplab.Analysis, packets: list[Packet]
) -> dict[Key, list[tuple[Row, Packet]]]:
    """The rows of every flow that has data, each with the packet that it is about."""
    by_number = {packet.number: packet for packet in packets}
    found: dict[Key, list[tuple[Row, Packet]]] = defaultdict(list)
    for row in analysis.segments.iter_rows(named=True):
        key = (row["connection"], row["subflow"], row["direction"])
        found[key].append((row, by_number[row["record"]]))
    return found


def test_every_packet_with_data_has_its_row(
    case: Case, analysis: mptcplab.Analysis, packets: list[Packet]
) -> None:
    ours = [(row["record"], row["at_ns"], row["bytes"]) for row in _rows(analysis)]
    assert {row["capture"] for row in _rows(analysis)} <= {str(case.capture)}
    listed = {number for number, _, _ in ours}
    assert len(listed) == len(ours)
    theirs = [(p.number, p.at_ns, p.length) for p in packets if p.length]
    left_out = {number for number, _, _ in theirs} - listed
    assert sorted(ours) == sorted(packet for packet in theirs if packet[0] not in left_out)
    acknowledged: dict[FourTuple, set[int]] = defaultdict(set)
    for packet in packets:
        a, ap, b, bp = packet.four_tuple
        acknowledged[b, bp, a, ap].add(packet.acknowledgement)
        if packet.number in left_out:
            # A keep-alive: the last byte acknowledged, once more.
            after = (packet.sequence + 1) % 2**32
            assert packet.length == 1
            assert after in acknowledged[packet.four_tuple]


def test_subflow_offsets_count_from_the_syn(
    flows: dict[Key, list[tuple[Row, Packet]]], packets: list[Packet]
) -> None:
    first: dict[tuple[int, FourTuple], set[int]] = defaultdict(set)
    for packet in packets:
        if packet.flags & SYN:
            first[packet.stream, packet.four_tuple].add((packet.sequence + 1) % 2**32)
    for key, pairs in flows.items():
        assert len({(packet.stream, packet.four_tuple) for _, packet in pairs}) == 1, key
        starts = {
            (packet.sequence + bool(packet.flags & SYN) - row["subflow_offset_bytes"]) % 2**32
            for row, packet in pairs
        }
        (start,) = starts
        packet = pairs[0][1]
        syns = first[packet.stream, packet.four_tuple]
        assert start in (syns or {packet.sequence}), key


@pytest.mark.parametrize(
    "case", [one for one in CASES if one.removesuffix(".pcapng") not in MISREAD], indirect=True
)
def test_data_offsets_count_from_the_initial_dsn(
    case: Case,
    analysis: mptcplab.Analysis,
    flows: dict[Key, list[tuple[Row, Packet]]],
    packets: list[Packet],
) -> None:
    initial = {}
    for theirs in tshark.connections(packets):
        for subflow in theirs.subflows:
            a, ap, b, bp = subflow.four_tuple
            initial[subflow.stream, subflow.four_tuple] = theirs.client_idsn
            initial[subflow.stream, (b, bp, a, ap)] = theirs.server_idsn
    plain = {row["connection"] for row in analysis.subflows.filter(kind="tcp").to_dicts()}
    compared = 0
    for (connection, _, _), pairs in flows.items():
        for row, packet in pairs:
            own, idsn = row["data_offset_bytes"], initial.get((packet.stream, packet.four_tuple))
            if connection in plain:
                assert own == row["subflow_offset_bytes"]
            elif packet.dsn is not None and idsn is not None:
                compared += 1
                assert (row["record"], own) == (row["record"], packet.dsn - idsn - 1)
    known = [p for p in packets if p.length > 1 and p.dsn is not None]
    assert compared or not any(initial.get((p.stream, p.four_tuple)) is not None for p in known)


def test_what_had_passed_before_is_a_retransmission(
    flows: dict[Key, list[tuple[Row, Packet]]],
) -> None:
    for pairs in flows.values():
        seen, highest = Ranges(), None
        origin = pairs[0][1].sequence
        for row, packet in pairs:
            start = (packet.sequence - origin + 2**31) % 2**32 - 2**31
            pieces = seen.add(start, start + packet.length, 0)
            again = sum(end - begin for begin, end, before in pieces if before)
            late = highest is not None and start < highest
            highest = (
                start + packet.length if highest is None else max(highest, start + packet.length)
            )
            number, kind = row["record"], row["kind"]
            if kind == "probe":
                assert (packet.length, row["retransmitted_bytes"]) == (1, 0)
                continue
            assert (number, row["retransmitted_bytes"]) == (number, again)
            assert (number, kind == "retransmission") == (number, again > 0)
            if kind is None:
                assert late, number


def test_rows_add_up_to_the_figures_of_flows(
    analysis: mptcplab.Analysis, flows: dict[Key, list[tuple[Row, Packet]]]
) -> None:
    for flow in analysis.flows.iter_rows(named=True):
        key = (flow["connection"], flow["subflow"], flow["direction"])
        rows = [row for row, _ in flows.get(key, [])]
        assert (key, sum(row["bytes"] for row in rows)) == (key, flow["data_bytes"])
        reinjected = sum(row["reinjected_bytes"] for row in rows)
        assert (key, reinjected) == (key, flow["reinjected_bytes"] or 0)
        if not flow["merged_segments"]:
            assert (key, len(rows)) == (key, flow["data_packets"])
        if flow["retransmitted_packets"] is None:
            continue
        # Who sends knows of every packet what it is.
        assert all(row["kind"] is not None for row in rows)
        resent = sum(row["retransmitted_bytes"] for row in rows)
        assert (key, resent) == (key, flow["retransmitted_bytes"])
        if not flow["merged_segments"]:
            count = sum(row["kind"] == "retransmission" for row in rows)
            assert (key, count) == (key, flow["retransmitted_packets"])


def _rows(analysis: mptcplab.Analysis) -> list[Row]:
    return analysis.segments.to_dicts()
