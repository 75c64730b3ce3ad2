"""MPTCP took longer than plain TCP over its best path alone."""

from __future__ import annotations

from mptcplab.labels import text
from mptcplab.labels.findings import NO_FAULT, by_cost, called
from mptcplab.results.findings.remedies import (
    BEST_AS_REGULAR,
    OTHER_AS_BACKUP,
    OTHERS_AS_BACKUPS,
    said,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mptcplab.results.comparison import Comparison
    from mptcplab.results.findings.remedies import Remedy

    Row = dict[str, Any]

# Less is chance, or one more handshake.
LEAST_PART, LEAST_S = 0.05, 0.1
# No cause of it: a long queue costs no throughput.
NO_CAUSE = NO_FAULT | {"bufferbloat"}


def find(comparison: Comparison, others: list[Row]) -> list[Row]:
    """Say by how much, and how much of that the costliest of the other findings explains.

    Where that is less than half, one whose cost is unknown may be the main cause.
    """
    gain, best = comparison.gain, comparison.best_path
    transfer = comparison.mptcp.transfer
    if gain is None or best is None or transfer is None or gain > -LEAST_PART:
        return []
    # A video has the rate that its player chose; whether it was served worse, its stalls tell.
    if transfer.get("stall_s") is not None:
        return []
    # Where a time was given and not a size, bytes are what was lost.
    lost_s = transfer["elapsed_s"] * -gain
    if lost_s < LEAST_S:
        return []
    causes = by_cost(row for row in others if row["kind"] not in NO_CAUSE)
    explained = sum(row["cost_s"] or 0.0 for row in causes)
    # An application that idles does so beside plain TCP, too.
    alone = comparison.baselines[best].tables.rows("findings")
    explained += max(_idle_s(others) - _idle_s(alone), 0.0)
    reason, cause_s = "", 0.0
    if causes and causes[0]["cost_s"]:
        cause_s = min(causes[0]["cost_s"], lost_s)
        reason = (
            f"; the finding “{called(causes[0]['kind'])}” explains {text.seconds(cause_s)} of "
            f"{text.seconds(lost_s)}"
        )
    if _is_backup(comparison):
        reason = f", which is a backup{reason}"
    unknown = [row["kind"] for row in causes if not row["cost_s"]]
    # A window fills where data waits for a slow path: that is the cause of both.
    unknown.sort(key=lambda kind: kind != "head_of_line")
    if unknown and cause_s < lost_s / 2:
        reason += f"; see the finding “{called(unknown[0])}”"
    return [
        {
            "kind": "slower_than_single",
            # What others explain is theirs: costs never add up to more than was lost.
            "cost_s": round(max(lost_s - explained, 0.0), 3) or None,
            "message": f"MPTCP was {-100 * gain:.0f} % slower than TCP over {best} alone{reason}",
            "evidence": f"TCP over {best} carried {comparison.baselines[best].throughput_mbps:.2f} "
            f"Mbit/s, and MPTCP {comparison.mptcp.throughput_mbps:.2f} Mbit/s",
            "remedy": said([*_backups(comparison), f"{best} alone"]),
        }
    ]


def _idle_s(rows: Iterable[Row]) -> float:
    return sum(row["cost_s"] or 0.0 for row in rows if row["kind"] in NO_FAULT)


def _is_backup(comparison: Comparison) -> bool:
    """Whether the best path is one that the scenario keeps for when the others fail."""
    path = comparison.mptcp.scenario.get("path", {}).get(comparison.best_path, {})
    return bool(path.get("backup"))


def _backups(comparison: Comparison) -> list[Remedy]:
    others = len(comparison.mptcp.scenario.get("path", {})) - 1
    if not others:
        return []
    if _is_backup(comparison):
        return [BEST_AS_REGULAR]
    return [OTHER_AS_BACKUP if others == 1 else OTHERS_AS_BACKUPS]
