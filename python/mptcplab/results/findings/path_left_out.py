"""A path was never joined, since as many subflows as the limit allows went over others."""

from __future__ import annotations

from mptcplab.labels.events import changes
from mptcplab.results.findings.path_unused import FURTHER_PART, missed_s
from mptcplab.results.findings.remedies import MORE_SUBFLOWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.results.comparison import Comparison

    Row = dict[str, Any]


def find(comparison: Comparison, others: list[Row]) -> list[Row]:
    """Name each path without a subflow over which plain TCP carries much."""
    mptcp, transfer = comparison.mptcp, comparison.mptcp.transfer
    limit = mptcp.scenario.get("mptcp", {}).get("max_subflows")
    if transfer is None or limit is None or not mptcp.throughput_mbps:
        return []
    subflows = list(mptcp.tables.rows("subflows", connection=transfer["connection"]))
    joined = [
        row for row in subflows if row["kind"] == "join" and row["handshake"] == "established"
    ]
    if not subflows or subflows[0]["kind"] != "initial" or len(joined) < limit:
        return []
    paths = mptcp.scenario.get("path", {})
    allowed = "1 subflow is" if limit == 0 else f"{1 + limit} subflows are"
    found: list[Row] = []
    there: dict[str, float] = {}
    unused = set(comparison.baselines) - {row["path"] for row in subflows}
    rates = {path: comparison.baselines[path].throughput_mbps or 0.0 for path in sorted(unused)}
    for path, alone in sorted(rates.items(), key=lambda one: -one[1]):
        since_s = _since_s(mptcp.scenario, path)
        if paths.get(path, {}).get("backup") or since_s is None:
            continue
        cost_s = missed_s(comparison, [*others, *found], path, since_s=since_s, beside=there)
        if cost_s is None or alone < FURTHER_PART * mptcp.throughput_mbps:
            continue
        there[path] = since_s
        found.append(
            {
                "kind": "path_left_out",
                "cost_s": round(cost_s, 3),
                "confidence": 0.9,
                "message": f"{path} was never joined, since no more than {allowed} "
                f"allowed; plain TCP over it alone carries {alone:.2f} Mbit/s",
                "evidence": f"no SYN with MP_JOIN went over it, and {len(joined)} subflows had "
                "joined over other paths, as many as the limit allows",
                "remedy": MORE_SUBFLOWS.words,
            }
        )
    return found


def _since_s(scenario: Row, path: str) -> float | None:
    """Give since when a path is there; None: it never comes."""
    if scenario.get("path", {}).get(path, {}).get("attached", True):
        return 0.0
    came = (one.at_s for one in changes(scenario) if (one.path, one.verb) == (path, "attach"))
    return next(came, None)
