"""What a connection speaks."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Row = dict[str, Any]


def is_mptcp(connection: Row) -> bool:
    """Say whether a connection speaks MPTCP, or did before it fell back to TCP."""
    # Tables written before the column was there.
    known = connection.get("protocol")
    return connection["mptcp_version"] is not None if known is None else known == "mptcp"


def protocol(connection: Row) -> str:
    """Name what a connection speaks, with its version."""
    version = connection["mptcp_version"]
    if version is not None:
        return f"MPTCP v{version}"
    return "MPTCP, version unknown" if is_mptcp(connection) else "plain TCP"
