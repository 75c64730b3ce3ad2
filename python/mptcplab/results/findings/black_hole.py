"""The kernel asked for plain TCP: MPTCP had failed before, and it remembers."""

from __future__ import annotations

from mptcplab.results.findings.counters import risen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.results.comparison import Comparison

    Row = dict[str, Any]

# SYNs that went out without MP_CAPABLE though MPTCP was asked for.
COUNTER = "MPTcpExtMPCapableSYNTXDisabled"


def find(comparison: Comparison, _: list[Row]) -> list[Row]:
    """Say so where the client's kernel counts such SYNs."""
    count = risen(comparison, "client", COUNTER)
    if not count:
        return []
    return [
        {
            "kind": "black_hole",
            "message": "MPTCP never began: the client's kernel left it out of the SYN, because "
            "earlier SYNs with it were not answered",
            "evidence": f"the client's counter {COUNTER} rose by {count}",
            "remedy": "find what drops the SYNs (mptcplab probe); sysctl -w "
            "net.mptcp.blackhole_timeout=0 makes the kernel forget",
        }
    ]
