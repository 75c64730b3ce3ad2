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


def find(comparison: Comparison, _: list[Row]) -> list[Row]:
    """Say so for each host whose path manager counts joins that it rejected."""
    found = []
    for host in ("client", "server"):
        if count := risen(comparison, host, COUNTER):
            found.append(
                {
                    "kind": "join_limit",
                    "message": f"the {host}'s path manager rejected {text.plural(count, 'join')}: "
                    "its limit of subflows was reached",
                    "evidence": f"counters: {COUNTER} of the {host} rose by {count}",
                    "remedy": f"ip mptcp limits set subflows 8 add_addr_accepted 8 at the {host}",
                }
            )
    return found
