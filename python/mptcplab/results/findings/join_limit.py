"""A join was turned away by the limits of the host that was asked."""

from __future__ import annotations

from mptcplab.labels import text
from mptcplab.results.findings.counters import risen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.results.comparison import Comparison

    Row = dict[str, Any]

COUNTER = "MPTcpExtMPJoinRejected"
# The count rises, too, where a join meets the end of its connection.
LEAST_S = 0.5


def find(comparison: Comparison, _: list[Row]) -> list[Row]:
    """Give a finding for each host whose path manager counted rejected joins in time."""
    found: list[Row] = []
    tables = comparison.mptcp.tables
    ends_s = {
        row["connection"]: row["start_s"] + row["duration_s"] for row in tables.rows("connections")
    }
    if not any(
        row["kind"] == "join"
        and row["handshake"] == "refused"
        and ends_s[row["connection"]] - row["start_s"] >= LEAST_S
        for row in tables.rows("subflows")
    ):
        return found
    for host in ("client", "server"):
        if count := risen(comparison, host, COUNTER):
            found.append(
                {
                    "kind": "join_limit",
                    "message": f"the {host}'s path manager rejected {text.plural(count, 'join')}: "
                    "its limit of subflows was reached",
                    "evidence": f"the {host}'s counter {COUNTER} rose by {count}",
                    "remedy": f"ip mptcp limits set subflows 8 add_addr_accepted 8 at the {host}",
                }
            )
    return found
