"""What came of it, in a few plain sentences made from figures of the tables."""

from __future__ import annotations

import polars as pl

from mptcplab.report.subject import Subject
from mptcplab.words import text
from mptcplab.words.runs import gain, label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Row = dict[str, Any]

# Less of the time than this is not worth a sentence.
OFTEN = 0.2
DROPPED = {
    "queue-full": "at the full queue of",
    "queue-managed": "by the queue management of",
    "loss": "by loss on",
    "blackout": "in the blackout of",
    "detached": "at the detached",
    "unreachable": "to the unreachable",
}


def sentences(subject: Subject) -> list[str]:
    """Say what was moved how fast, what MPTCP gave, who carried it, and what stood in the way."""
    return [
        *_moved(subject),
        *_gain(subject),
        *_shares(subject),
        *_waiting(subject),
        *_limits(subject),
        *_drops(subject),
        *_failures(subject),
    ]


def _moved(subject: Subject) -> Iterator[str]:
    moved = subject.transfer
    if not moved.get("bytes"):
        yield "No data was delivered in this direction."
        return
    run = subject.run
    who = (
        label(run) if run else "MPTCP" if subject.connection["mptcp_version"] is not None else "TCP"
    )
    rate = text.rate(moved["throughput_mbps"])
    yield (
        f"{who} moved {text.size(moved['bytes'])} in {text.seconds(moved['elapsed_s'])}: {rate}."
    )
    if run and not run.outcome["finished"]:
        yield f"The transfer did not finish: {run.outcome['reason']}."


def _gain(subject: Subject) -> Iterator[str]:
    comparison = subject.comparison
    if comparison is None or not comparison.baselines:
        return
    words = gain(comparison)
    yield f"{words[0].upper()}{words[1:]}."


def _shares(subject: Subject) -> Iterator[str]:
    carried = [flow for flow in subject.flows if flow["share"]]
    if len(subject.subflows) < 2 or not carried:
        return
    if len(carried) == 1:
        yield f"All of it came over {subject.names[carried[0]['subflow']]}."
        return
    parts = [
        f"{subject.names[flow['subflow']]} carried {100 * flow['share']:.0f} %"
        + (f" at an RTT of {text.milliseconds(flow['rtt_ms_mean'])}" if flow["rtt_ms_mean"] else "")
        for flow in carried
    ]
    yield f"{', '.join(parts[:-1])} and {parts[-1]}."


def _waiting(subject: Subject) -> Iterator[str]:
    moved = subject.transfer
    late, arrived = moved.get("out_of_order_segments"), moved.get("reordering_segments")
    if late and arrived:
        yield (
            f"{100 * late / arrived:.0f} % of the segments waited for earlier data: "
            f"{text.milliseconds(moved['out_of_order_delay_ms_mean'])} on average over all, "
            f"{text.milliseconds(moved['out_of_order_delay_ms_p95'])} at the 95th percentile."
        )


def _limits(subject: Subject) -> Iterator[str]:
    """What held the sender back, by its kernel's own account."""
    known = subject.table("state").filter(host=subject.sender)
    for number, name in subject.names.items():
        last = known.filter(subflow=number).drop_nulls("busy_ms").tail(1).rows(named=True)
        busy = last[0]["busy_ms"] if last else None
        for column, what in (
            ("window_limited_ms", "The receiver's window"),
            ("buffer_limited_ms", "The send buffer"),
        ):
            if busy and (last[0][column] or 0) / busy >= OFTEN:
                part = 100 * last[0][column] / busy
                yield f"{what} held {name} back for {part:.0f} % of its busy time."


def _drops(subject: Subject) -> Iterator[str]:
    """Where packets of the connection went, which only a simulation knows."""
    receiver = "destination" if subject.direction == "down" else "source"
    ours = pl.DataFrame(
        [(row["client_address"], row["client_port"]) for row in subject.subflows],
        {f"{receiver}_address": pl.String, f"{receiver}_port": pl.UInt32},
        orient="row",
    )
    drops = subject.analysis.drops.filter(direction=subject.direction)
    lost = drops.join(ours.unique(), on=ours.columns, how="semi")
    counts = lost.group_by("place", "reason").len().sort("len", descending=True)
    parts = [
        f"{text.count(number)} {DROPPED.get(reason, reason)} {text.clean(place)}"
        for place, reason, number in counts.rows()
    ]
    if parts:
        yield f"Packets with its data that did not arrive: {', '.join(parts)}."


def _failures(subject: Subject) -> Iterator[str]:
    for row in subject.subflows:
        if row["handshake"] in ("refused", "unanswered"):
            why = f": {row['handshake_remark']}" if row["handshake_remark"] else ""
            yield text.clean(f"{subject.names[row['subflow']]} was {row['handshake']}{why}.")
    if subject.connection["fallback"] is not None:
        yield text.clean(f"It went on as plain TCP: {subject.connection['fallback']}.")
    if subject.transfer.get("gaps"):
        longest = text.milliseconds(subject.transfer["longest_gap_ms"])
        start = subject.transfer["longest_gap_start_s"]
        yield f"The longest time without new data was {longest}, from {text.at(start)} on."
