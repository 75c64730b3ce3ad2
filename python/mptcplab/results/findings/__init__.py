"""Why a run was slow, by what only a run has: plain TCP beside it, and its scenario.

A kind of finding is a file with a function that gives rows of the table ``findings``, named in
``RULES``. What packets alone show is found by the analysis.
"""

from __future__ import annotations

from mptcplab.labels import quality
from mptcplab.results.findings import (
    black_hole,
    failed_joins,
    join_limit,
    path_left_out,
    path_unused,
    send_buffer,
    served_worse,
    slower,
)
from mptcplab.results.findings.remedies import left, paths_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.results.comparison import Comparison

    Row = dict[str, Any]

# Rules whose findings explain others come before them.
RULES = (
    black_hole.find,
    join_limit.find,
    send_buffer.find,
    failed_joins.find,
    path_left_out.find,
    path_unused.find,
    slower.find,
    served_worse.find,
)
# Kinds with a cost that replace kinds without one, of the same subflow; any other replaces its own.
BETTER = {"path_unused": "capacity_unused"}


def findings(comparison: Comparison) -> list[Row]:
    """Give all findings of a run: those of its table, and what the runs beside it add."""
    own = [_opened(comparison, row) for row in comparison.mptcp.tables.rows("findings")]
    transfer = comparison.mptcp.transfer
    if transfer is not None and transfer.get("stall_s") is not None:
        own = [_paused(row) if row["kind"] == "application" else row for row in own]
    if transfer is None or not transfer["elapsed_s"]:
        return own
    own = [
        row
        for row in own
        if not path_unused.is_far_slower(comparison, row) and not _is_meant(comparison, row)
    ]
    # Of other connections, and of the other direction, nothing is explained here.
    others = [
        row
        for row in own
        if row["connection"] == transfer["connection"]
        and row["direction"] in (transfer["direction"], None)
    ]
    for rule in RULES:
        found = [_row(comparison, transfer, row) for row in rule(comparison, others)]
        replaced = {(BETTER.get(row["kind"], row["kind"]), row["subflow"]) for row in found}
        own, others = (
            [row for row in rows if (row["kind"], row["subflow"]) not in replaced] + found
            for rows in (own, others)
        )
    scenario = comparison.mptcp.scenario
    several = len(scenario.get("path", {})) > 1
    return [
        row | {"remedy": left(row, scenario, paths_of(comparison, row), several=several)}
        for row in own
    ]


def _paused(row: Row) -> Row:
    """Give the pauses of a video: its player makes them, and they cost nobody time."""
    return row | {"cost_s": None, "cost_mbps": None}


def _is_meant(comparison: Comparison, row: Row) -> bool:
    """Whether data came twice as it should: sent over all paths, to be in time."""
    mptcp = comparison.mptcp
    scheduler = mptcp.scenario.get("mptcp", {}).get("scheduler")
    in_time = mptcp.transfer is not None and quality.worth(mptcp.transfer) is not None
    return row["kind"] == "reinjection_waste" and scheduler == "redundant" and in_time


def _opened(comparison: Comparison, row: Row) -> Row:
    """Name the capture as it can be opened; a run may have kept none."""
    directory = comparison.mptcp.directory
    if row["capture"] is None or not (directory / row["capture"]).exists():
        return row | {"capture": None, "record": None}
    return row | {"capture": str(directory / row["capture"])}


def _row(comparison: Comparison, transfer: Row, found: Row) -> Row:
    start_s = next(
        row["start_s"]
        for row in comparison.mptcp.tables.rows("connections")
        if row["connection"] == transfer["connection"]
    )
    cost_s = found.get("cost_s")
    elapsed_s = transfer["elapsed_s"]
    cost_mbps = None
    if cost_s is not None and cost_s < elapsed_s:
        megabits = transfer["bytes"] * 8e-6
        cost_mbps = megabits / (elapsed_s - cost_s) - megabits / elapsed_s
    subflow = found.get("subflow")
    return {
        "connection": transfer["connection"],
        "subflow": None,
        "direction": transfer["direction"],
        "from_s": start_s,
        "to_s": start_s + elapsed_s,
        "cost_s": None,
        "cost_is_minimum": False,
        "cost_mbps": cost_mbps,
        "confidence": 0.9,
        "beyond_hosts": False,
        "filter": _filter(comparison, transfer["connection"], subflow),
        "capture": None,
        "record": None,
    } | found


def _filter(comparison: Comparison, connection: int, subflow: int | None) -> str:
    rows = comparison.mptcp.tables.rows("subflows", connection=connection)
    return " || ".join(
        f"(tcp.port == {row['client_port']} && tcp.port == {row['server_port']})"
        for row in rows
        if subflow is None or row["subflow"] == subflow
    )
