"""Findings as people read them, on terminal and page alike."""

from __future__ import annotations

from mptcplab.labels import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Row = dict[str, Any]

# Time that passed for want of data was not lost.
NO_FAULT = frozenset({"application"})
# So many stand at the head of a summary.
MOST = 3


def by_cost(rows: Iterable[Row]) -> list[Row]:
    """Order findings by what they cost; of those whose cost is unknown, by how sure they are."""
    return sorted(rows, key=lambda row: (-(row["cost_s"] or 0.0), -row["confidence"]))


def in_words(row: Row) -> str:
    """Say what was found, and what it cost where that is known."""
    message = str(row["message"])
    cost = row["cost_s"]
    if cost is None or message.endswith(" lost") or row["kind"] in NO_FAULT:
        return message
    return f"{message}: {text.seconds(cost)} lost"
