"""Our figures of MPTCP connections follow from tshark's packets, with no tolerance."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import pytest

import mptcplab
from oracles import data_level, handshakes, tshark
from oracles.conftest import CASES, Case
from oracles.data_level import Data, InOrder
from oracles.handshakes import Event
from oracles.order import in_order
from oracles.tshark import FourTuple, Packet

Row = dict[str, Any]
DIRECTIONS = {"up": True, "down": False}
# Here tshark's DSNs contradict the DSS options of the same segments (in "three-paths" it puts data
# past the last byte that was sent), or it has none ("No mapping available"), so it is no judge;
# test_simulated_wire follows these captures from their bytes. At the server's end of "rebind" a
# subflow goes on from another address.
MISREAD = {
    "simulated-three-paths-client",
    "simulated-three-paths-server",
    "simulated-mesh-ipv6-client",
    "simulated-mesh-ipv6-server",
    "simulated-reordering-client",
    "simulated-path-lost-client",
    "simulated-rebind-server",
}
pytestmark = pytest.mark.parametrize(
    "case",
    [name for name in CASES if name.removesuffix(".pcapng") not in MISREAD],
    indirect=True,
    scope="session",
)


@dataclass
class Ours:
    """The rows of one of our connections."""

    row: Row
    subflows: list[Row] = field(default_factory=list)
    transfers: dict[str, Row] = field(default_factory=dict)
    flows: dict[tuple[int, str], Row] = field(default_factory=dict)
    reordering: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    events: list[Row] = field(default_factory=list)

    def four_tuples(self) -> list[FourTuple]:
        return [_four_tuple(row) for row in self.subflows]


@dataclass
class Pair:
    ours: Ours
    theirs: tshark.Connection
    data: Data
    of_subflow: dict[int, list[Packet]]

    def is_sender(self, direction: str) -> bool:
        return bool(self.ours.row["vantage"] == ("client" if direction == "up" else "server"))

    def is_receiver(self, direction: str) -> bool:
        return bool(self.ours.row["vantage"] == ("server" if direction == "up" else "client"))


@pytest.fixture(scope="module")
def analysis(case: Case) -> mptcplab.Analysis:
    return mptcplab.analyze(case.capture)


@pytest.fixture(scope="module")
def packets(case: Case) -> list[Packet]:
    return in_order(tshark.read(case.capture))


@pytest.fixture(scope="module")
def pairs(case: Case, analysis: mptcplab.Analysis, packets: list[Packet]) -> list[Pair]:
    """Every MPTCP connection, ours and theirs, found by its first subflow."""
    ours: dict[frozenset[tuple[str, int]], list[Ours]] = defaultdict(list)
    for connection in _connections(analysis):
        if connection.subflows[0]["kind"] != "tcp":
            ours[_ends(connection.four_tuples()[0])].append(connection)
    streams: dict[int, list[Packet]] = defaultdict(list)
    for packet in packets:
        streams[packet.stream].append(packet)
    found = []
    for theirs in tshark.connections(packets):
        own = ours[_ends(theirs.subflows[0].four_tuple)].pop(0)
        found.append(Pair(own, theirs, data_level.of(theirs, packets), streams))
    assert not any(ours.values())
    return found


def _connections(analysis: mptcplab.Analysis) -> list[Ours]:
    found = [Ours(row) for row in analysis.connections.iter_rows(named=True)]
    for row in analysis.subflows.iter_rows(named=True):
        found[row["connection"]].subflows.append(row)
    for row in analysis.transfers.iter_rows(named=True):
        found[row["connection"]].transfers[row["direction"]] = row
    for row in analysis.flows.iter_rows(named=True):
        found[row["connection"]].flows[row["subflow"], row["direction"]] = row
    for row in analysis.reordering.iter_rows(named=True):
        found[row["connection"]].reordering[row["direction"]].append(row)
    for row in analysis.events.iter_rows(named=True):
        found[row["connection"]].events.append(row)
    return found


def _ends(key: FourTuple) -> frozenset[tuple[str, int]]:
    """Without a handshake nobody knows which is the client."""
    return frozenset((key[:2], key[2:]))


def _four_tuple(row: Row) -> FourTuple:
    return (row["client_address"], row["client_port"], row["server_address"], row["server_port"])


def test_connections_are_the_mptcp_ones_and_the_other_streams(
    analysis: mptcplab.Analysis, packets: list[Packet], pairs: list[Pair]
) -> None:
    subflows = sum(len(pair.theirs.subflows) for pair in pairs)
    others = len({packet.stream for packet in packets}) - subflows
    assert analysis.connections.height == len(pairs) + others
    assert analysis.subflows.height == subflows + others


def test_subflows_join_the_right_connection(pairs: list[Pair]) -> None:
    for pair in pairs:
        # Refused and unanswered joins included.
        theirs = [_ends(subflow.four_tuple) for subflow in pair.theirs.subflows]
        assert [_ends(key) for key in pair.ours.four_tuples()] == theirs
        for row, subflow in zip(pair.ours.subflows, pair.theirs.subflows, strict=True):
            if row["kind"] == "join":
                opener = "server" if row["opened_by"] == "client" else "client"
                assert subflow.joins == pair.ours.row[f"{opener}_token"]


def test_versions_and_tokens(pairs: list[Pair]) -> None:
    for pair in pairs:
        row, theirs = pair.ours.row, pair.theirs
        assert row["mptcp_version"] == theirs.version
        assert row["client_token"] == theirs.client_token
        assert row["server_token"] == theirs.server_token


def test_addresses(pairs: list[Pair]) -> None:
    for pair in pairs:
        added = {
            (row["address"], row["address_id"])
            for row in pair.ours.events
            if row["event"] == "add_addr"
        }
        removed = {row["address_id"] for row in pair.ours.events if row["event"] == "remove_addr"}
        assert added == pair.theirs.added_addresses
        assert removed == pair.theirs.removed_address_ids


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_bytes_are_what_was_acknowledged(
    pairs: list[Pair], analysis: mptcplab.Analysis, direction: str
) -> None:
    missed: dict[int, int] = Counter()
    for row in analysis.diagnostics.iter_rows(named=True):
        if row["diagnostic"] == "missed_bytes":
            missed[row["connection"]] += row["count"]
    for pair in pairs:
        up, own = DIRECTIONS[direction], pair.ours.transfers[direction]["bytes"]
        if pair.data.initial[up] is None:
            continue
        acknowledged = data_level.acknowledged(pair.data, up)
        assert own == (acknowledged or 0)
        sent = pair.theirs.up if up else pair.theirs.down
        if pair.ours.row["ended"] == "closed":
            # Both sides finished: all that was sent came through.
            lost = missed[pair.ours.row["connection"]] if sent.payload_bytes else 0
            assert own == sent.dsn_bytes + lost
        assert data_level.below(pair.data, up, own) <= own


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_reinjected_bytes(pairs: list[Pair], direction: str) -> None:
    for pair in pairs:
        theirs = pair.theirs.up if direction == "up" else pair.theirs.down
        total = theirs.reinjected_bytes + theirs.repeated_bytes
        assert pair.ours.transfers[direction]["reinjected_bytes"] == total
        for row, subflow in zip(pair.ours.subflows, pair.theirs.subflows, strict=True):
            sent = subflow.up if direction == "up" else subflow.down
            own = pair.ours.flows[row["subflow"], direction]["reinjected_bytes"]
            assert own == sent.reinjected_bytes + sent.repeated_bytes


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_share_of_each_subflow(pairs: list[Pair], direction: str) -> None:
    # Of the bytes that were acknowledged: by arrival at the receiver's end; elsewhere to within
    # what was sent over several subflows, and empty where that is more than 1 %.
    for pair in pairs:
        up, total = DIRECTIONS[direction], pair.ours.transfers[direction]["bytes"]
        if pair.data.initial[up] is None:
            continue
        theirs = data_level.carried(pair.data, up)
        uncertain = 0 if pair.is_receiver(direction) else theirs.uncertain
        unknown = total - sum(theirs.first.values()) + uncertain
        for row, subflow in zip(pair.ours.subflows, pair.theirs.subflows, strict=True):
            own = pair.ours.flows[row["subflow"], direction]
            if unknown > total / 100:
                assert own["delivered_bytes"] is None
                assert own["share"] is None
                continue
            assert abs(own["delivered_bytes"] - theirs.first[subflow.stream]) <= unknown
            assert own["share"] == (own["delivered_bytes"] / total if total else None)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_out_of_order_delay(pairs: list[Pair], direction: str) -> None:
    for pair in pairs:
        up, own = DIRECTIONS[direction], pair.ours.transfers[direction]
        if not pair.is_receiver(direction):
            assert own["reordering_segments"] is None
            assert not pair.ours.reordering[direction]
            continue
        if pair.data.initial[up] is None:
            continue
        theirs = data_level.out_of_order(pair.data, up)
        assert sorted(map(_in_order, pair.ours.reordering[direction])) == theirs
        waits = [segment.waited_ns for segment in theirs]
        assert own["reordering_segments"] == len(waits)
        assert own["out_of_order_segments"] == sum(wait > 0 for wait in waits)
        if waits:
            assert round(own["out_of_order_delay_ms_mean"] * 1e6 * len(waits)) == sum(waits)
            assert round(own["out_of_order_delay_ms_max"] * 1e6) == max(waits)


def _in_order(row: Row) -> InOrder:
    delay = round(row["out_of_order_delay_ms"] * 1e6)
    return InOrder(row["record"], row["data_offset_bytes"], row["bytes"], delay)


def test_joins_and_resets(pairs: list[Pair]) -> None:
    until = max((packet.at_ns for pair in pairs for packet in pair.data.packets), default=0)
    for pair in pairs:
        over = data_level.over_ns(pair.data)
        theirs = []
        for row, subflow in zip(pair.ours.subflows, pair.theirs.subflows, strict=True):
            packets = pair.of_subflow[subflow.stream]
            ended = over
            if over is not None and data_level.reset_with_the_end(pair.data, packets):
                ended = min(over, packets[-1].at_ns)
            theirs += handshakes.joins(packets, ended, until) if row["kind"] == "join" else []
            theirs += handshakes.resets(packets)
        ours = [
            Event(
                row["event"],
                row["record"],
                (row["detail"] or "") if row["event"] == "reset" else "",
            )
            for row in pair.ours.events
            if row["event"].startswith("join_") or row["event"] == "reset"
        ]
        assert sorted(ours) == sorted(theirs)
