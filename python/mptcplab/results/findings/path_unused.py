"""A path carried next to nothing of what plain TCP gets over it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.results.comparison import Comparison

    Row = dict[str, Any]

UNUSED, LEAST_S, LEAST_PART = 0.05, 2.0, 0.1
# What the path would have brought is worth a line from here on, as for the analysis's findings.
WORTH_PART, WORTH_S = 0.05, 0.5
# Then there was nothing for the path to carry: what the window takes, and what there is, is shared.
# What arrived twice has its cost already.
LIMITS = {"receive_window", "send_buffer", "application", "short_transfer", "reinjection_waste"}


def missed_s(
    comparison: Comparison, others: list[Row], path: str, beside_mbps: float = 0.0
) -> float | None:
    """Give how much sooner all would have come with what plain TCP carries over an unused path.

    ``beside_mbps`` is what other such paths carry alone, whose cost is counted already. None where
    that is not known, or not worth a line.
    """
    mptcp, alone = comparison.mptcp, comparison.baselines.get(path)
    bulk = mptcp.scenario.get("transfer", {}).get("application", "bulk") == "bulk"
    if (
        alone is None
        or not alone.throughput_mbps
        or not alone.outcome["finished"]
        or not mptcp.throughput_mbps
        or mptcp.transfer is None
        # Only this takes all that the paths give.
        or not bulk
        or LIMITS & {row["kind"] for row in others}
    ):
        return None
    elapsed_s = mptcp.transfer["elapsed_s"]
    known_mbps = mptcp.throughput_mbps + beside_mbps
    part = mptcp.throughput_mbps / known_mbps
    part *= alone.throughput_mbps / (known_mbps + alone.throughput_mbps)
    cost_s = min(elapsed_s * part, elapsed_s - sum(row["cost_s"] or 0.0 for row in others))
    return None if cost_s < min(WORTH_S, WORTH_PART * elapsed_s) else float(cost_s)


def find(comparison: Comparison, others: list[Row]) -> list[Row]:
    """Name each path whose subflow carried less than 5 % of what plain TCP had over it."""
    mptcp = comparison.mptcp
    transfer = mptcp.transfer
    if transfer is None or transfer["elapsed_s"] < LEAST_S or not mptcp.throughput_mbps:
        return []
    connection = transfer["connection"]
    # What another finding explains is not reported twice; a budget, or a backup, is intended. That
    # the path was idle is reported here with its cost.
    explained = {row["subflow"] for row in others if row["kind"] != "capacity_unused"}
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
        cost_s = missed_s(comparison, others, subflow["path"])
        if cost_s is None:
            continue
        found.append(
            {
                "kind": "path_unused",
                "subflow": subflow["subflow"],
                "cost_s": round(cost_s, 3),
                "confidence": 0.6,
                "message": f"{subflow['path']} carried {carried:.2f} Mbit/s, but plain TCP over it "
                f"alone carries {alone.throughput_mbps:.2f} Mbit/s",
                "evidence": f"the rate of its subflow over the whole transfer, beside that of the "
                f"run tcp-{subflow['path']}",
                "remedy": "a larger send buffer (net.ipv4.tcp_wmem), and another scheduler "
                "(lowest-rtt)",
            }
        )
    return found
