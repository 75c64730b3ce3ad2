"""Which packets of the connection did not arrive, in plain sentences; only a simulation knows."""

from __future__ import annotations

import polars as pl

from mptcplab.labels import text
from mptcplab.report.subject import Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Row = dict[str, Any]

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
ENDS = {"up": ("source", "destination"), "down": ("destination", "source")}
TCP = 6


def lost_handshakes(subject: Subject) -> Iterator[str]:
    """Tell of handshakes of which packets were lost: they take a second or more."""
    for row in subject.subflows:
        if row["handshake"] != "established" or row["join_time_ms"] is None:
            continue
        end_s = subject.start_s + row["join_time_ms"] / 1000
        from_client = _lost(subject, "up", row).filter(pl.col("at_s") < end_s).height
        from_server = _lost(subject, "down", row).filter(pl.col("at_s") < end_s).height
        asked, answered = (
            (from_server, from_client)
            if row["opened_by"] == "server"
            else (from_client, from_server)
        )
        parts = [
            text.plural(number, what)
            for number, what in ((asked, "SYN"), (answered, "SYN/ACK"))
            if number
        ]
        if parts:
            took = text.seconds(end_s - row["start_s"])
            name = subject.names[row["subflow"]]
            yield f"The handshake of {name} took {took}, with {' and '.join(parts)} lost."


def lost_data(subject: Subject) -> Iterator[str]:
    """Tell where packets with data went."""
    own = [_lost(subject, subject.direction, row) for row in subject.subflows]
    if not own:
        return
    lost = pl.concat(own)
    data = lost.filter(pl.col("bytes") > LONGEST_HEADERS)
    known = sum(flow["lost_packets"] or 0 for flow in subject.flows)
    # Data of a few bytes is not told from options by its length.
    what, counted = (
        ("Packets with data", data) if len(data) == known else ("Packets of all kinds", lost)
    )
    counts = counted.group_by("place", "reason").len().sort("len", "place", descending=True)
    parts = [
        f"{text.count(number)} {DROPPED.get(reason, reason)} {text.clean(place)}"
        for place, reason, number in counts.rows()
    ]
    if parts:
        yield f"{what} that did not arrive: {', '.join(parts)}."


def _lost(subject: Subject, direction: str, subflow: Row) -> pl.DataFrame:
    client, server = ENDS[direction]
    return subject.analysis.drops.filter(
        (pl.col("protocol") == TCP)
        & (pl.col("direction") == direction)
        & (pl.col(f"{client}_address") == subflow["client_address"])
        & (pl.col(f"{client}_port") == subflow["client_port"])
        & (pl.col(f"{server}_address") == subflow["server_address"])
        & (pl.col(f"{server}_port") == subflow["server_port"])
    )
