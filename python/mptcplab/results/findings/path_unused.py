"""A path carried next to nothing of what plain TCP gets over it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.results.comparison import Comparison

    Row = dict[str, Any]

UNUSED, LEAST_S, LEAST_PART = 0.05, 2.0, 0.1


def find(comparison: Comparison, others: list[Row]) -> list[Row]:
    """Name each path whose subflow carried less than 5 % of what plain TCP had over it."""
    mptcp = comparison.mptcp
    transfer = mptcp.transfer
    if transfer is None or transfer["elapsed_s"] < LEAST_S or not mptcp.throughput_mbps:
        return []
    connection = transfer["connection"]
    # What another finding explains is not told twice; a budget, or a backup, is meant so.
    explained = {row["subflow"] for row in others}
    found = []
    for subflow in mptcp.tables.rows("subflows", connection=connection):
        alone = comparison.baselines.get(subflow["path"] or "")
        if alone is None or not alone.throughput_mbps or not alone.outcome["finished"]:
            continue
        joined_s = (subflow["join_time_ms"] or 0.0) / 1e3
        if (
            subflow["handshake"] != "established"
            or subflow["backup"]
            or subflow["subflow"] in explained
            or joined_s > transfer["elapsed_s"] / 2
            or alone.throughput_mbps < LEAST_PART * mptcp.throughput_mbps
        ):
            continue
        flows = mptcp.tables.rows("flows", connection=connection)
        carried = sum(
            flow["throughput_mbps"] or 0.0
            for flow in flows
            if flow["subflow"] == subflow["subflow"] and flow["direction"] == transfer["direction"]
        )
        if carried >= UNUSED * alone.throughput_mbps:
            continue
        could = min(alone.throughput_mbps, mptcp.throughput_mbps)
        part = could / (mptcp.throughput_mbps + could)
        left_s = transfer["elapsed_s"] - sum(row["cost_s"] or 0.0 for row in others)
        found.append(
            {
                "kind": "path_unused",
                "subflow": subflow["subflow"],
                "cost_s": round(max(min(transfer["elapsed_s"] * part, left_s), 0.0), 3),
                "confidence": 0.6,
                "message": f"{subflow['path']} carried {carried:.2f} Mbit/s where plain TCP has "
                f"{alone.throughput_mbps:.2f} Mbit/s over it alone",
                "evidence": f"flows: throughput_mbps of subflow {subflow['subflow']}; transfers of "
                f"tcp-{subflow['path']}",
                "remedy": "another scheduler (lowest-rtt, blest), or a larger receive and send "
                "buffer so that the path is needed",
            }
        )
    return found
