"""What only a simulation knows, against what its captures show."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import mptcplab
from mptcplab.analysis import Analysis
from oracles import segments, simulated
from oracles.segments import FIN, Segment
from oracles.simulated import KINDS, SimulatedRun, planned, scenario

# Only a simulation fills these.
TRUTH = {"state", "queues", "drops"}
# Where addresses change on the way, the ends do not agree on who speaks.
TRANSLATED = {"rebind"}
# Delays vary, or packets wait or end elsewhere.
UNEVEN = {"reordering", "three-paths", "held", "path-lost", "interface-lost", "backup"}
# A host that sends several packets at one instant stamps them a nanosecond apart.
APART_NS = 1000
# A host sees, and stamps, what came up to this much later: [run] processing.
SEEN_NS = 100_000
# What paths take at least, less what their jitter may save.
DELAYS_NS = {"wifi": 8_000_000, "lte": 25_000_000, "satellite": 117_000_000}
# Of paths, in bit/s.
RATES = {"wifi": 12_000_000, "lte": 7_000_000, "satellite": 3_000_000}
# The server's.
PORT = 8080
# No packet is longer on its way.
LONGEST_NS = 1_500_000_000


@pytest.fixture(scope="module", params=KINDS)
def ran(
    request: pytest.FixtureRequest, simulated_run: Callable[[str], SimulatedRun]
) -> SimulatedRun:
    return simulated_run(request.param)


@pytest.fixture(scope="module")
def ends(ran: SimulatedRun) -> dict[str, list[Segment]]:
    return {"client": segments.read(ran.client), "server": segments.read(ran.server)}


def test_captures_give_the_tables_that_the_run_gave(ran: SimulatedRun) -> None:
    # How its application was served takes what it was to do.
    transfer = planned(scenario(ran.name)).table()["transfer"]
    captures = [ran.client, ran.server]
    again = Analysis(mptcplab._core.analyze(captures, one_clock=True, transfer=transfer))
    for name in mptcplab._core.Tables.NAMES:
        if name in TRUTH:
            continue
        run, captured = (_comparable(one, name) for one in (ran.tables, again))
        assert_frame_equal(run, captured, check_exact=True)


def _comparable(analysis: Any, name: str) -> pl.DataFrame:
    frame: pl.DataFrame = getattr(analysis, name)
    if "capture" in frame.columns:
        # A run names its captures by their file names alone.
        frame = frame.with_columns(pl.col("capture").str.split("/").list.last())
    if name == "diagnostics":
        frame = frame.filter(~pl.col("diagnostic").str.starts_with("clock"))
    return frame


@pytest.mark.parametrize("ran", [one for one in KINDS if one not in TRANSLATED], indirect=True)
def test_clocks_are_taken_for_nearly_equal(ran: SimulatedRun) -> None:
    """There is no offset; what is estimated lies within the error that is given with it."""
    again = mptcplab.analyze([ran.client, ran.server])
    remarks = again.diagnostics.filter(pl.col("diagnostic").str.starts_with("clock"))
    for message in remarks["message"]:
        words = message.split()
        numbers = [float(word) for word in words if word.replace(".", "", 1).isdigit()]
        offset, error = numbers[:2]
        assert offset <= error, message


def test_drops_are_what_was_sent_and_did_not_arrive(
    ran: SimulatedRun, ends: dict[str, list[Segment]]
) -> None:
    sent = sorted((s for e in ends.values() for s in e if s.outbound), key=lambda s: s.at_ns)
    arrived: dict[bytes, deque[Segment]] = defaultdict(deque)
    for segment in sorted((s for e in ends.values() for s in e if not s.outbound), key=_at):
        arrived[segment.identity].append(segment)
    lost: list[Segment] = []
    for segment in sent:
        waiting = arrived[segment.identity]
        # Copies without a difference: the earlier one arrives first, or was lost: either will do.
        if waiting and waiting[0].at_ns >= segment.at_ns:
            waiting.popleft()
        else:
            lost.append(segment)
    assert not any(arrived.values()), "something arrived that nobody sent"
    drops: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for row in ran.tables.drops.filter(protocol=6).iter_rows(named=True):
        key = (row["source_port"], row["destination_port"], row["bytes"])
        drops[key].append(row["at_ns"])
    missing = Counter((s.ends[1], s.ends[3], s.wire_bytes) for s in lost)
    missing.subtract({key: len(times) for key, times in drops.items()})
    if ran.outcome["reason"] == "complete":
        # All data has arrived: the last copies of it, and their ACKs, may still be on their way.
        last_ns = sent[0].at_ns + ran.outcome["virtual_ns"]
        in_flight = Counter(
            (s.ends[1], s.ends[3], s.wire_bytes) for s in lost if _earliest_ns(s) > last_ns
        )
        assert all(0 <= count <= in_flight[key] for key, count in missing.items()), missing
    candidates: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    copies = {segment.identity for segment in lost}
    for segment in sent:
        if segment.identity in copies:
            candidates[segment.ends[1], segment.ends[3], segment.wire_bytes].append(segment.at_ns)
    # One by one: every drop comes after its packet was sent, and before the longest way is over.
    for key, times in drops.items():
        for dropped_at in times:
            before = [at for at in candidates[key] if -APART_NS < dropped_at - at < LONGEST_NS]
            assert before, (key, dropped_at)
            candidates[key].remove(min(before))


def _earliest_ns(segment: Segment) -> int:
    """When it may arrive: no sooner than the link has passed it and carried it."""
    path = _path(_client(segment))
    return segment.at_ns + segment.wire_bytes * 8 * 10**9 // RATES[path] + DELAYS_NS[path]


def _client(segment: Segment) -> str:
    return segment.ends[0] if segment.ends[3] == PORT else segment.ends[2]


def _at(segment: Segment) -> int:
    return segment.at_ns


def test_retransmissions_are_those_that_the_sender_counted(
    ran: SimulatedRun, ends: dict[str, list[Segment]]
) -> None:
    state = ran.tables.state
    flows = ran.tables.flows
    for row in flows.filter(pl.col("data_packets") > 0).iter_rows(named=True):
        host = "client" if row["direction"] == "up" else "server"
        own = state.filter(connection=row["connection"], subflow=row["subflow"], host=host).sort(
            "at_ns"
        )
        assert own.height
        counted = own["retransmitted_packets"]
        assert counted.is_sorted()
        # At every sample; a FIN sent again counts there, and not in the table. What is sent at the
        # moment of a sample, as timers end on ticks, comes before it or after it.
        resent, fins = _resent(ran, ends[host], row)
        for sample in own.iter_rows(named=True):
            seen = sum(at < sample["at_ns"] for at in resent)
            again = sum(at <= sample["at_ns"] for at in fins)
            again += sum(at == sample["at_ns"] for at in resent)
            assert seen <= sample["retransmitted_packets"] <= seen + again
        assert len(resent) == row["retransmitted_packets"]


def _resent(
    ran: SimulatedRun, packets: list[Segment], row: simulated.Row
) -> tuple[list[int], list[int]]:
    """When data was sent again, and when a FIN was, by sequence numbers alone."""
    (subflow,) = ran.tables.subflows.filter(
        connection=row["connection"], subflow=row["subflow"]
    ).iter_rows(named=True)
    own = "client" if row["direction"] == "up" else "server"
    port = (subflow[f"{own}_port"], subflow["client_port"])
    address = subflow["client_address"]
    data: set[int] = set()
    resent, fins, closed = [], [], False
    for segment in packets:
        a, ap, b, bp = segment.ends
        if not segment.outbound or ap != port[0]:
            continue
        if port[1] not in (ap, bp) or address not in (a, b):
            continue
        if segment.length:
            if segment.sequence in data:
                resent.append(segment.at_ns)
            data.add(segment.sequence)
        elif segment.flags & FIN:
            if closed:
                fins.append(segment.at_ns)
            closed = True
    return resent, fins


def test_no_link_is_faster_than_its_rate(ran: SimulatedRun, ends: dict[str, list[Segment]]) -> None:
    """Over no window: what comes out of a link fits what the rate lets pass in it."""
    rates = RATES | ({"wifi": 10_000_000} if ran.name == "reordering" else {})
    held = {"held"}
    for direction, end in (("down", "client"), ("up", "server")):
        arriving: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for segment in ends[end]:
            if not segment.outbound:
                client = segment.ends[2] if direction == "down" else segment.ends[0]
                arriving[_path(client)].append((segment.at_ns, segment.wire_bytes))
        for path, packets in arriving.items():
            if ran.name in held and path == "lte":
                # What waits leaves at once: in the radio network, behind the link.
                continue
            # What came first may have been seen late, and what came last at once.
            slack = 20_000_000 if path == "satellite" or ran.name == "reordering" else SEEN_NS
            _fits(packets, rates[path], slack)


def _path(address: str) -> str:
    number = address.split(":")[2] if ":" in address else address.split(".")[2]
    return ["wifi", "lte", "satellite"][int(number) - 1]


def _fits(packets: list[tuple[int, int]], rate: float, slack_ns: int) -> None:
    """For all windows at once: the greatest excess over windows that end here, as of a bucket."""
    level, before = 0.0, packets[0][0]
    for index, (at, size) in enumerate(packets):
        level = max(0.0, level - (at - before) * rate / 8e9)
        before = at
        # The first packet of a window was on its way before the window began.
        if index:
            level += size
        # One more packet: windows begin when one has just come.
        assert level <= slack_ns * rate / 8e9 + 1500 + 1, at


@pytest.mark.parametrize(
    "ran",
    # Elsewhere delays vary, or packets wait in more than queues.
    [kind for kind in KINDS if kind not in {*TRANSLATED, *UNEVEN}],
    indirect=True,
    scope="module",
)
def test_queue_delays_are_part_of_one_way_delays(
    ran: SimulatedRun, ends: dict[str, list[Segment]]
) -> None:
    """A sample's delay was that of some packet: sent, waited, transmitted, delayed, received."""
    delays = {"wifi": 8_000_000, "lte": 25_000_000}
    if ran.name == "duration":
        delays["wifi"] = 11_000_000
    rates = {"wifi": 12e6, "lte": 7e6}
    sender_receiver = {"down": ("server", "client"), "up": ("client", "server")}
    for direction, (sender, receiver) in sender_receiver.items():
        arrived: dict[bytes, deque[int]] = defaultdict(deque)
        for segment in ends[receiver]:
            if not segment.outbound:
                arrived[segment.identity].append(segment.at_ns)
        waits: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for segment in ends[sender]:
            if segment.outbound and arrived[segment.identity]:
                at = arrived[segment.identity].popleft()
                path = _path(segment.ends[2] if direction == "down" else segment.ends[0])
                spent = round(segment.wire_bytes * 8e9 / rates[path])
                waits[path].append(
                    (at - delays[path] - spent, at - segment.at_ns - delays[path] - spent)
                )
        for path, seen in waits.items():
            samples = ran.tables.queues.filter(link=path, direction=direction)
            known = sorted(seen)
            for row in samples.filter(pl.col("queue_delay_ms") > 0).iter_rows(named=True):
                # It had left when it was seen late.
                left = [wait for at, wait in known if at <= row["at_ns"] + SEEN_NS]
                if left:
                    # Of the last that left; one that was lost behind the queue is not known.
                    nearest = min(abs(row["queue_delay_ms"] * 1e6 - wait) for wait in left[-8:])
                    assert nearest < 3_000_000, (path, row)


def test_samples_come_at_their_period(ran: SimulatedRun) -> None:
    times = ran.tables.queues["at_ns"].unique().sort().to_list()
    periods = {after - before for before, after in itertools.pairwise(times)}
    assert periods <= {10_000_000, 20_000_000, 40_000_000}
