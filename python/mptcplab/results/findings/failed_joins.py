"""What a path would have brought that a failed join left out: plain TCP over it tells."""

from __future__ import annotations

from mptcplab.results.findings.path_unused import missed_s

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.results.comparison import Comparison

    Row = dict[str, Any]

KINDS = {"join_refused", "join_unanswered", "join_unfinished"}


def find(comparison: Comparison, others: list[Row]) -> list[Row]:
    """Give each failed join again, with its cost."""
    paths = {
        (row["connection"], row["subflow"]): row["path"]
        for row in comparison.mptcp.tables.rows("subflows")
    }
    found: list[Row] = []
    for row in others:
        if row["kind"] not in KINDS or row["cost_s"] is not None:
            continue
        path = paths.get((row["connection"], row["subflow"])) or ""
        cost_s = missed_s(comparison, [*others, *found], path)
        if cost_s is not None:
            carries = f"plain TCP over {path} alone carries"
            rate = f"{comparison.baselines[path].throughput_mbps:.2f} Mbit/s"
            evidence = f"{row['evidence']}; {carries} {rate}"
            # What the bytes took less is computed with the cost.
            known = {key: value for key, value in row.items() if key != "cost_mbps"}
            found.append(known | {"cost_s": round(cost_s, 3), "evidence": evidence})
    return found
