"""What simulated endpoints put on the wire is right, to tshark and to arithmetic on the bytes."""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from oracles import segments, signals
from oracles.segments import ACK, RST, SYN, Segment
from oracles.signals import Connection
from oracles.simulated import KINDS, PLAIN, SimulatedRun
from requirements import need_tool

CHECKED = ("tcp.check_checksum:TRUE", "ip.check_checksum:TRUE", "mptcp.analyze_mappings:TRUE")
# Groups of tshark's expert items: a TCP warning such as "out of order" stands in "Sequence".
SEQUENCE = "Sequence"
# epan/proto.h
GROUPS = {0x02000000: SEQUENCE}
WARNING = 0x00600000
# Of a checksum.
GOOD = "1"
KEYS = ("tcp.options.mptcp.version", "mptcp.expected_token", "mptcp.expected_idsn")
FIELDS = (
    "frame.number",
    "_ws.expert.severity",
    "_ws.expert.group",
    "_ws.expert.message",
    "ip.checksum.status",
    "tcp.checksum.status",
    *KEYS,
)
Packet = dict[str, str]
NO_MAPPING = "No mapping available"


@pytest.fixture(scope="module", params=KINDS)
def ran(
    request: pytest.FixtureRequest, simulated_run: Callable[[str], SimulatedRun]
) -> SimulatedRun:
    return simulated_run(request.param)


@pytest.fixture(scope="module")
def ends(ran: SimulatedRun) -> dict[str, list[Segment]]:
    return {"client": segments.read(ran.client), "server": segments.read(ran.server)}


@pytest.fixture(scope="module")
def connections(ran: SimulatedRun, ends: dict[str, list[Segment]]) -> dict[str, list[Connection]]:
    """At both ends, which know of the same connections."""
    found = {end: signals.connections(packets) for end, packets in ends.items()}
    assert {len(those) for those in found.values()} == {
        0 if ran.name in PLAIN else ran.tables.connections.height
    }
    return found


@pytest.mark.parametrize("end", ["client", "server"])
def test_tshark_has_nothing_to_complain_of(
    ran: SimulatedRun, ends: dict[str, list[Segment]], end: str
) -> None:
    need_tool("tshark")
    seen = _seen(getattr(ran, end))
    by_number = {segment.number: segment for segment in ends[end]}
    assert list(by_number) == [int(packet["frame.number"]) for packet in seen]
    for packet in seen:
        number = int(packet["frame.number"])
        assert packet["tcp.checksum.status"] == GOOD, number
        assert packet["ip.checksum.status"] in (GOOD, ""), number
        for severity, group, message in _experts(packet):
            if group == SEQUENCE:
                continue
            # tshark says so of segments that carry their own mapping, and of those that carry no
            # data: here it is left to arithmetic. Where it is malformed, it says that.
            assert message.startswith(NO_MAPPING), (number, severity, group, message)
            segment = by_number[number]
            assert not segment.length or any(
                option[0] >> 4 == signals.DSS for option in segment.options
            )


def _experts(packet: Packet) -> Iterator[tuple[int, str, str]]:
    """Items of weight from warning on: severity, group, message."""
    columns = ("_ws.expert.severity", "_ws.expert.group", "_ws.expert.message")
    items = (packet[name].split("|") if packet[name] else [] for name in columns)
    for severity, group, message in zip(*items, strict=True):
        if int(severity) >= WARNING:
            yield int(severity), GROUPS.get(int(group), group), message


@cache
def _seen(capture: pathlib.Path) -> tuple[Packet, ...]:
    """What tshark says of each packet, by field."""
    command = ["tshark", "-n", "-r", str(capture), "-T", "fields"]
    command += ["-E", "separator=/t", "-E", "aggregator=|"]
    for protocol in _guessed():
        command += ["--disable-protocol", protocol]
    for preference in CHECKED:
        command += ["-o", preference]
    for name in FIELDS:
        command += ["-e", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    return tuple(dict(zip(FIELDS, line.split("\t"), strict=True)) for line in lines)


@cache
def _guessed() -> list[str]:
    """Name what tshark may take a payload for: the port is HTTP's, and others look at the bytes."""
    listed = ["tshark", "-G", "heuristic-decodes"]
    lines = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.splitlines()
    return [
        "http",
        *(
            fields[1]
            for line in lines
            if (fields := line.split("\t"))[0] == "tcp" and fields[1] != "mptcp"
        ),
    ]


def test_checksums_of_ip_and_tcp(ends: dict[str, list[Segment]]) -> None:
    for packets in ends.values():
        assert packets
        assert all(segment.has_right_checksums() for segment in packets)


def test_keys_tokens_and_codes(ran: SimulatedRun, connections: dict[str, list[Connection]]) -> None:
    rows = list(ran.tables.connections.iter_rows(named=True))
    for those in connections.values():
        for connection in those:
            (row,) = [r for r in rows if r["client_token"] == connection.token(True)]
            assert row["server_token"] == connection.token(False)
            joined, announced = signals.codes(connection)
            joins = [flow for flow in connection.subflows if flow.joins]
            assert joined >= 2 * sum(_is_established(flow) for flow in joins)
            assert announced >= (ran.name in ("mesh", "mesh-ipv6"))
    valid = ran.tables.subflows["hmac_valid"].drop_nulls()
    assert valid.all()


def _is_established(flow: signals.Subflow) -> bool:
    return any(segment.length for segment in flow.segments)


def test_tshark_takes_the_same_from_the_keys(
    ran: SimulatedRun, connections: dict[str, list[Connection]]
) -> None:
    need_tool("tshark")
    for end, those in connections.items():
        seen = _seen(getattr(ran, end))
        found = {
            tuple(packet[name] for name in KEYS)
            for packet in seen
            if packet["mptcp.expected_token"]
        }
        assert found == {
            (str(one.version), str(one.token(client)), str(one.initial_dsn(client)))
            for one in those
            for client in (True, False)
        }


def test_every_byte_has_its_place_and_every_copy_is_the_same(
    ran: SimulatedRun, connections: dict[str, list[Connection]]
) -> None:
    received: dict[bool, int] = {True: 0, False: 0}
    for number in range(len(connections["client"])):
        for up in (True, False):
            sender, receiver = ("client", "server") if up else ("server", "client")
            sent = data(connections[sender][number], up)
            arrived = data(connections[receiver][number], up)
            assert arrived == sent[: len(arrived)]
            received[up] += len(arrived)
    if connections["client"]:
        assert {"up": received[True], "down": received[False]} == ran.outcome["bytes_received"]


def data(connection: Connection, up: bool) -> bytes:
    """What the mappings make of the subflows' payload. Asserts that copies agree, without gaps."""
    found = bytearray()
    known = bytearray()
    first = connection.initial_dsn(up) + 1
    for flow in connection.subflows:
        opener = flow.by_client == up
        payload = flow.payload(opener)
        mapped = bytearray(len(payload))
        # Also a mapping of which the capture has but the head.
        for mapping in flow.mappings[opener]:
            if not mapping.bytes:
                continue
            start = (mapping.dsn - first) % 2**64
            piece = payload[mapping.sequence : mapping.sequence + mapping.bytes]
            mapped[mapping.sequence : mapping.sequence + len(piece)] = b"\1" * len(piece)
            end = start + len(piece)
            found += bytes(max(0, end - len(found)))
            known += bytes(max(0, end - len(known)))
            # Where a reinjection is cut at other bytes than the first copy, only a part is known.
            copy = zip(piece, known[start:end], found[start:end], strict=True)
            assert all(byte == old for byte, seen, old in copy if seen)
            found[start:end], known[start:end] = piece, b"\1" * len(piece)
        sent = bytearray(len(payload))
        for segment in flow.segments:
            if flow.is_from_opener(segment) == opener and segment.length:
                start = (segment.sequence - flow.initial[opener]) % 2**32
                sent[start : start + segment.length] = b"\1" * segment.length
        assert all(m or not s for m, s in zip(mapped, sent, strict=True)), "data without a mapping"
    assert all(known), "data that nobody sent"
    return bytes(found)


def test_dss_checksums(ran: SimulatedRun, connections: dict[str, list[Connection]]) -> None:
    checked = 0
    for end, up in (("client", True), ("server", False)):
        for connection in connections[end]:
            for flow in connection.subflows:
                opener = flow.by_client == up
                payload = bytes(flow.payload(opener))
                for mapping in flow.mappings[opener]:
                    assert (mapping.checksum is not None) == connection.checksums
                    if mapping.checksum is None:
                        continue
                    own = payload[mapping.sequence : mapping.sequence + mapping.bytes]
                    assert len(own) == mapping.bytes
                    assert signals.checksum_is_right(mapping, own), mapping
                    checked += 1
    assert bool(checked) == any(c.checksums for c in connections["client"])


def test_segments_keep_to_what_was_agreed_on(ends: dict[str, list[Segment]]) -> None:
    for packets in ends.values():
        announced: dict[tuple[str, int, str, int], int] = {}
        for segment in packets:
            a, ap, b, bp = segment.ends
            if segment.flags & SYN:
                mss = next(value for kind, value in segment.all_options() if kind == 2)
                announced[b, bp, a, ap] = int.from_bytes(mss)
            elif segment.length:
                options = len(segment.tcp) - len(segment.payload) - 20
                # RFC 6691: the MSS is of segments without options.
                assert segment.length + options <= announced[segment.ends]
            assert segment.flags & (ACK | SYN | RST)
            assert segment.wire_bytes <= 1500
