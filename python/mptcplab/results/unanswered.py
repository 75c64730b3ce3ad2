"""What captures cannot answer: what limited a transfer whose paths had room."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mptcplab.analysis import Measured
from mptcplab.labels import text

Row = dict[str, Any]

# Of a smaller or shorter transfer nobody asks what limited it.
ASKED_BYTES, ASKED_S = 500_000, 1.0
# A path had room where its usual round trip is hardly longer than its least, and little was lost.
ROOM, FEW_LOSSES_PERCENT = 1.3, 0.5
# So had one that carried this part and more, lost nothing, and whose queue was neither long, nor
# grew: its usual round trip, beside its least, and its longest ones beside that.
MUCH, STOOD, GREW = 0.1, 3.0, 1.6
MIDWAY = (
    "the capture began after the connection, whose handshakes most findings need: capture from "
    "before it begins"
)
# What limits the rate where paths have room, and packets show.
SHOWN = frozenset(
    {
        *("application", "capture_unfit", "head_of_line", "receive_window", "send_buffer"),
        *("slow_start_early", "slow_start_loss", "split_connection", "window_clamped"),
    }
)


def unanswered(tables: Measured, findings: Iterable[Row]) -> str | None:
    """Say what captures cannot answer where the paths had room, and no finding says what limited.

    That is the sender's business: its buffer, its scheduler, its application. Runs may tell.
    """
    largest = max(tables.rows("transfers"), key=lambda row: row["bytes"] or 0, default=None)
    if (
        largest is None
        or (largest["bytes"] or 0) < ASKED_BYTES
        or (largest["elapsed_s"] or 0.0) < ASKED_S
    ):
        return None
    found = list(findings)
    own = [row for row in found if row["connection"] == largest["connection"]]
    if any(row["kind"] in SHOWN for row in own):
        return None
    flows = [
        row
        for row in tables.rows("flows", connection=largest["connection"])
        if row["direction"] == largest["direction"] and row["rtt_ms_median"] is not None
    ]
    about = f"{_named(largest)}: " if found and not own else ""
    connections = tables.rows("connections", connection=largest["connection"])
    if any(row["began"] == "midway" for row in connections):
        return f"{about}{MIDWAY}"
    if (room := _room(flows)) is not None:
        return (
            f"{about}{room}. What else limited the transfer is not in packets: whether the send "
            "buffer was too small, why the scheduler sent as it did, or how fast the application "
            "wrote. At the sender, ss -tim shows its buffer, and mptcplab shell records it"
        )
    # Findings of others alone would pass for an answer.
    return f"{about}its packets do not show what limited it" if about else None


def _room(flows: list[Row]) -> str | None:
    """Say that a path that carried much may have had room, if packets do not rule it out."""
    if not flows:
        return None
    widest = max(flows, key=lambda row: row["bytes"] or 0)
    least, median = (text.milliseconds(widest[f"rtt_ms_{name}"]) for name in ("min", "median"))
    if (
        widest["rtt_ms_median"] <= ROOM * widest["rtt_ms_min"]
        and (widest["loss_rate_percent"] or 0.0) < FEW_LOSSES_PERCENT
    ):
        return (
            f"no path that carried much was full: round trips took {median} (median), and {least} "
            "at least"
        )
    whole = sum(row["bytes"] or 0 for row in flows)
    for row in flows:
        part = (row["bytes"] or 0) / whole
        # Congestion control sends more until something is lost, or round trips grow.
        if (
            part >= MUCH
            and not row["retransmitted_packets"]
            and row["rtt_ms_median"] <= STOOD * row["rtt_ms_min"]
            and row["rtt_ms_p95"] <= GREW * row["rtt_ms_median"]
        ):
            over = "" if part == 1 else f" over a path that carried {part:.0%} of it"
            lost = f"nothing was lost{over}, and round trips kept their length".replace("%", " %")
            return f"{lost}: there may have been room for more"
    return None


def _named(largest: Row) -> str:
    """Name the connection that moved most, by its transfer."""
    size, time = text.size(largest["bytes"]), text.seconds(largest["elapsed_s"])
    return f"connection {largest['connection']} moved most, {size} in {time}"
