"""The outcome of a run, in a few plain sentences made from its tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from mptcplab.charts.run.subject import Subject
from mptcplab.labels import quality, text
from mptcplab.labels.connections import OTHERS, begins_s, delivered, is_mptcp
from mptcplab.labels.events import too_late, with_hosts
from mptcplab.labels.findings import MOST, NO_FAULT, described
from mptcplab.results.contributions import contributions
from mptcplab.results.labels import gain, label, unfinished

Row = dict[str, Any]

# A smaller part of the time than this gets no sentence.
OFTEN = 0.2
MOST_CARRIERS = 4
MOST_CHANGES = 6


def sentences(subject: Subject) -> list[str]:
    """Say why it was slow, what was moved how fast, what MPTCP gained, and over which paths."""
    return [
        *_findings(subject, faults=True),
        " ".join([*_moved(subject), *_gain(subject)]),
        *(brought := list(_contributions(subject))),
        *_quality(subject),
        *_findings(subject, faults=False),
        *([] if brought else [*_shares(subject), *_waiting(subject)]),
        *_limits(subject),
        *lost_data(subject),
        *lost_handshakes(subject),
        *_timeline(subject),
        *_failures(subject),
    ]


def _moved(subject: Subject) -> Iterator[str]:
    transfer = subject.transfer
    if not transfer.get("bytes"):
        yield "No data was delivered in this direction."
        return
    run = subject.run
    name = label(run) if run else _name(subject.connection)
    rate = transfer["throughput_mbps"]
    how_fast = "" if rate is None else f": {text.rate(rate)}"
    duration = text.seconds(transfer["elapsed_s"])
    yield f"{name} moved {delivered(transfer)} in {duration}{how_fast}."
    if run and not run.outcome["finished"]:
        yield f"The transfer did not finish: {unfinished(run.outcome)}."


def _name(connection: Row) -> str:
    if is_mptcp(connection):
        return "MPTCP"
    return OTHERS.get(str(connection.get("protocol")), "TCP")


def _findings(subject: Subject, *, faults: bool) -> Iterator[str]:
    """Give the most costly findings, those that are faults first."""
    for row in subject.findings[:MOST]:
        if (row["kind"] not in NO_FAULT) == faults:
            yield f"{described(row)}."


def _gain(subject: Subject) -> Iterator[str]:
    comparison = subject.comparison
    if comparison is None or not comparison.baselines:
        return
    sentence = gain(comparison)
    yield f"{sentence[0].upper()}{sentence[1:]}."


def _contributions(subject: Subject) -> Iterator[str]:
    if subject.comparison and (sentence := contributions(subject.comparison)):
        yield f"{sentence[0].upper()}{sentence[1:]}."


def _quality(subject: Subject) -> Iterator[str]:
    for fact in quality.facts(subject.transfer):
        yield f"{fact[0].upper()}{fact[1:]}."


def _shares(subject: Subject) -> Iterator[str]:
    if len(subject.subflows) < 2:
        return
    carriers = _carriers(subject)
    most = sorted(carriers, key=lambda one: -sum(flow["share"] for flow in one[1]))
    parts = [_carried(name, flows) for name, flows in most[:MOST_CARRIERS]]
    if len(most) > MOST_CARRIERS:
        rest = 100 * sum(flow["share"] for _, flows in most[MOST_CARRIERS:] for flow in flows)
        parts.append(f"{len(most) - MOST_CARRIERS} others {rest:.0f} %")
    if len(parts) == 1:
        yield f"All of it came over {most[0][0]}."
    elif parts:
        yield f"{', '.join(parts[:-1])} and {parts[-1]}."


def _carriers(subject: Subject) -> list[tuple[str, list[Row]]]:
    """Group flows with data by path, or by subflow where paths have no names."""
    paths = {row["subflow"]: row["path"] for row in subject.subflows}
    found: dict[str, list[Row]] = {}
    for flow in subject.flows:
        if flow["share"]:
            name = paths[flow["subflow"]] or subject.names[flow["subflow"]]
            found.setdefault(text.clean(name), []).append(flow)
    return list(found.items())


def _carried(name: str, flows: list[Row]) -> str:
    share = 100 * sum(flow["share"] for flow in flows)
    part = f"{share:.0f} %" if share >= 0.5 else "less than 1 %"
    if len(flows) > 1:
        return f"{name} carried {part} on {len(flows)} subflows"
    rtt = flows[0]["rtt_ms_mean"]
    at = f" at an RTT of {text.milliseconds(rtt)}" if rtt is not None else ""
    return f"{name} carried {part}{at}"


def _waiting(subject: Subject) -> Iterator[str]:
    transfer = subject.transfer
    late, arrived = transfer.get("out_of_order_segments"), transfer.get("reordering_segments")
    if late and arrived:
        yield (
            f"{100 * late / arrived:.0f} % of the segments waited for earlier data. The mean over "
            f"all segments is {text.milliseconds(transfer['out_of_order_delay_ms_mean'])}, their "
            f"95th percentile {text.milliseconds(transfer['out_of_order_delay_ms_p95'])}."
        )


def _limits(subject: Subject) -> Iterator[str]:
    """Say where the receiver's window held the sender back, as its kernel counted.

    What it counted for the send buffer is left to the finding, which knows when it is wrong.
    """
    states = subject.table("state").filter(host=subject.sender)
    for number, name in subject.names.items():
        last = states.filter(subflow=number).drop_nulls("busy_ms").tail(1).rows(named=True)
        busy_ms = last[0]["busy_ms"] if last else None
        if busy_ms and (part := (last[0]["window_limited_ms"] or 0) / busy_ms) >= OFTEN:
            yield f"The receiver's window held {name} back for {100 * part:.0f} % of its busy time."


def _timeline(subject: Subject) -> Iterator[str]:
    """Say how the timeline changed paths."""
    found = subject.changes
    for one in found[:MOST_CHANGES]:
        if one.is_grave:
            yield f"At {text.at(one.at_s)}, {one.description.removeprefix('timeline: ')}."
    run = subject.run
    end_s = subject.transfer.get("elapsed_s") if run and run.outcome["finished"] else None
    if late := too_late(found, end_s):
        yield f"{late[0].upper()}{late[1:]}."


def _failures(subject: Subject) -> Iterator[str]:
    for row in subject.subflows:
        # A capture shows no handshakes of QUIC's further paths, nor always that of the first.
        if row["kind"] == "quic":
            continue
        if row["handshake"] in ("refused", "unanswered", "unfinished"):
            remark = row["handshake_remark"]
            remark = f": {with_hosts(remark, row['opened_by'] or 'client')}" if remark else ""
            yield text.clean(f"{subject.names[row['subflow']]} was {row['handshake']}{remark}.")
    if subject.connection["fallback"] is not None:
        yield text.clean(f"It went on as plain TCP: {subject.connection['fallback']}.")
    if subject.transfer.get("gaps"):
        longest = text.milliseconds(subject.transfer["longest_gap_ms"])
        start = subject.transfer["longest_gap_start_s"] - begins_s(subject.connection)
        yield f"The longest time without new data in order was {longest}, from {text.at(start)} on."


DROPPED = {
    "queue-full": "at the full queue of",
    "queue-managed": "by the queue management of",
    "loss": "by loss on",
    "given-up": "after the last try of the link layer of",
    "handover": "in a handover of",
    "blackout": "in the blackout of",
    "detached": "at the detached",
    "unreachable": "to the unreachable",
    "too-big": "as too big for",
    "filtered": "at the firewall of",
    "no-mapping": "at the NAT of",
}
# Headers of IP and TCP with all options that they can have.
LONGEST_HEADERS = pl.when(pl.col("source_address").str.contains(":")).then(100).otherwise(80)
# Which ends of a packet of a direction are client and server.
CLIENT_AND_SERVER = {"up": ("source", "destination"), "down": ("destination", "source")}
TCP = 6


def lost_handshakes(subject: Subject) -> Iterator[str]:
    """Name handshakes with lost packets: they take a second or more."""
    for row in subject.subflows:
        if row["handshake"] != "established" or row["join_time_ms"] is None:
            continue
        end_s = subject.start_s + row["join_time_ms"] / 1000
        from_client = _lost(subject, "up", row).filter(pl.col("at_s") < end_s).height
        from_server = _lost(subject, "down", row).filter(pl.col("at_s") < end_s).height
        requests, answers = (
            (from_server, from_client)
            if row["opened_by"] == "server"
            else (from_client, from_server)
        )
        parts = [
            text.plural(count, segment)
            for count, segment in ((requests, "SYN"), (answers, "SYN/ACK"))
            if count
        ]
        if parts:
            duration = text.seconds(end_s - row["start_s"])
            name = subject.names[row["subflow"]]
            yield f"The handshake of {name} took {duration}, with {' and '.join(parts)} lost."


def lost_data(subject: Subject) -> Iterator[str]:
    """Say where packets with data were lost."""
    own = [_lost(subject, subject.direction, row) for row in subject.subflows]
    if not own:
        return
    lost = pl.concat(own)
    data = lost.filter(pl.col("bytes") > LONGEST_HEADERS)
    known = sum(flow["lost_packets"] or 0 for flow in subject.flows)
    # Data of a few bytes is not distinguished from options by its length.
    kind, counted = (
        ("Packets with data", data) if len(data) == known else ("Packets of all kinds", lost)
    )
    counts = counted.group_by("place", "reason").len().sort("len", "place", descending=True)
    parts = [
        f"{text.count(count)} {DROPPED.get(reason, reason)} {text.clean(element)}"
        for element, reason, count in counts.rows()
    ]
    if parts:
        yield f"{kind} that did not arrive: {', '.join(parts)}."


def _lost(subject: Subject, direction: str, subflow: Row) -> pl.DataFrame:
    client, server = CLIENT_AND_SERVER[direction]
    ends = {
        f"{end}_{part}": subflow[f"{side}_{part}"]
        for end, side in ((client, "client"), (server, "server"))
        for part in ("address", "port")
    }
    drops = subject.analysis.drops.filter(protocol=TCP, direction=direction)
    # Of what a file of another tool does not name, nothing is known to be lost.
    return drops.clear() if None in ends.values() else drops.filter(**ends)
