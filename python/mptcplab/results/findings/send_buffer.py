"""The sender's buffer held the transfer back: only its state tells."""

from __future__ import annotations

from collections import defaultdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.results.comparison import Comparison

    Row = dict[str, Any]

OFTEN = 0.2
COLUMNS = (
    *("connection", "subflow", "host", "at_ns", "busy_ms", "buffer_limited_ms"),
    *("queued_bytes", "in_flight_packets", "cwnd_packets"),
)
SENDERS = {"up": "client", "down": "server"}


def find(comparison: Comparison, others: list[Row]) -> list[Row]:
    """Say so where Linux counts a fifth of its busy time and more as limited by the buffer.

    It begins to count where a writer waits and nothing is queued. On a subflow of MPTCP the writer
    is the connection's, and the count may go on after it should have ended: such a count is left
    aside.
    """
    mptcp = comparison.mptcp
    transfer = mptcp.transfer
    if transfer is None or any(row["kind"] == "receive_window" for row in others):
        return []
    samples: dict[int, list[Row]] = defaultdict(list)
    state = mptcp.state
    if not set(COLUMNS) <= set(state.columns):
        return []
    rows = state.select(COLUMNS).drop_nulls().sort("at_ns").iter_rows(named=True)
    for row in rows:
        here = row["connection"] == transfer["connection"]
        if here and row["host"] == SENDERS[transfer["direction"]]:
            samples[row["subflow"]].append(row)
    found = []
    for subflow, seen in samples.items():
        row = seen[-1]
        part = row["buffer_limited_ms"] / row["busy_ms"] if row["busy_ms"] else 0.0
        if part >= OFTEN and not _goes_on(seen):
            found.append(
                {
                    "kind": "send_buffer",
                    "subflow": subflow,
                    "message": f"the send buffer was too small {part:.0%} of the time".replace(
                        "%", " %"
                    ),
                    "evidence": f"state: buffer_limited_ms = {row['buffer_limited_ms']:.0f} of "
                    f"busy_ms = {row['busy_ms']:.0f}",
                    "remedy": "a larger send buffer: net.ipv4.tcp_wmem (its third figure)",
                }
            )
    return found


def _goes_on(samples: list[Row]) -> bool:
    """Whether all time since a sample is counted where the window is full, and more is queued."""
    before = {"busy_ms": 0.0, "buffer_limited_ms": 0.0}
    for row in samples:
        busy_ms = row["busy_ms"] - before["busy_ms"]
        counted_ms = row["buffer_limited_ms"] - before["buffer_limited_ms"]
        full = row["in_flight_packets"] >= row["cwnd_packets"] and row["queued_bytes"] > 0
        if full and counted_ms >= busy_ms > 0:
            return True
        before = row
    return False
