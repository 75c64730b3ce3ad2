"""What rose among a kernel's counters during a run."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.results.comparison import Comparison


def risen(comparison: Comparison, host: str, counter: str) -> int:
    """Give by how much; 0 where no kernel counted."""
    rows = comparison.mptcp.tables.rows("counters")
    return sum(
        row["after"] - row["before"]
        for row in rows
        if row["host"] == host and row["counter"] == counter
    )
