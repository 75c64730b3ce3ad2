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
    widest = max(flows, key=lambda row: row["bytes"] or 0, default=None)
    if (
        widest is None
        or widest["rtt_ms_median"] > ROOM * widest["rtt_ms_min"]
        or (widest["loss_rate_percent"] or 0.0) >= FEW_LOSSES_PERCENT
    ):
        # Findings of others alone would pass for an answer.
        return (
            f"{_named(largest)}: its packets do not show what limited it"
            if found and not own
            else None
        )
    least, median = (text.milliseconds(widest[f"rtt_ms_{name}"]) for name in ("min", "median"))
    about = f"{_named(largest)}: " if found and not own else ""
    return (
        f"{about}no path that carried much was full: round trips took {median} (median), and "
        f"{least} at least. What else limited the transfer is not in packets: whether the send "
        "buffer was too small, why the scheduler sent as it did, or how fast the application "
        "wrote. At the sender, ss -tim shows its buffer, and mptcplab shell records it"
    )


def _named(largest: Row) -> str:
    """Name the connection that moved most, by its transfer."""
    size, time = text.size(largest["bytes"]), text.seconds(largest["elapsed_s"])
    return f"connection {largest['connection']} moved most, {size} in {time}"
