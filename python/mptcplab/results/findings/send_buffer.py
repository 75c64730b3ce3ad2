"""The sender's buffer held the transfer back: only its state tells."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.results.comparison import Comparison

    Row = dict[str, Any]

OFTEN = 0.2
SENDERS = {"up": "client", "down": "server"}


def find(comparison: Comparison, others: list[Row]) -> list[Row]:
    """Say so where Linux counts a fifth of its busy time and more as limited by the buffer."""
    mptcp = comparison.mptcp
    transfer = mptcp.transfer
    if transfer is None or any(row["kind"] == "receive_window" for row in others):
        return []
    last: dict[int, Row] = {}
    columns = ("connection", "subflow", "host", "busy_ms", "buffer_limited_ms")
    state = mptcp.state
    if not set(columns) <= set(state.columns):
        return []
    rows = state.select(columns).drop_nulls().iter_rows(named=True)
    for row in rows:
        here = row["connection"] == transfer["connection"]
        if here and row["host"] == SENDERS[transfer["direction"]]:
            last[row["subflow"]] = row
    found = []
    for subflow, row in last.items():
        part = row["buffer_limited_ms"] / row["busy_ms"] if row["busy_ms"] else 0.0
        if part >= OFTEN:
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
