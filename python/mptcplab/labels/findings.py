"""Findings as people read them, on terminal and page alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mptcplab.labels import text
from mptcplab.labels.connections import begins_s

Row = dict[str, Any]

# Time that passed for want of data was not lost.
NO_FAULT = frozenset({"application", "short_transfer"})
# Where there is none.
NOTHING = "nothing was found that would have cost time"
# The most findings at the head of a summary.
MOST = 3
# Kinds as people read them; any other is called as in tables.
NAMES = {
    "application": "idle application",
    "backup_unused": "backup unused",
    "backup_used": "backup used",
    "black_hole": "MPTCP switched off by the kernel",
    "bufferbloat": "long queue",
    "capacity_unused": "idle path",
    "capture_unfit": "unfit capture",
    "checksum": "changed payload",
    "fallback": "fallback to TCP",
    "forgotten": "subflow forgotten by a NAT",
    "handshake_lost": "lost handshake",
    "head_of_line": "head-of-line blocking",
    "join_late": "late join",
    "join_limit": "limit of joins",
    "join_refused": "refused join",
    "join_unanswered": "unanswered join",
    "join_unfinished": "unfinished join",
    "large_segments_lost": "large segments lost",
    "losses_bursts": "bursts of losses",
    "losses_queue": "losses of a full queue",
    "losses_random": "random losses",
    "losses_unclear": "losses of unclear cause",
    "mss_clamped": "clamped segment size",
    "never_began": "MPTCP never began",
    "no_second_path": "no second path",
    "outage": "outage",
    "path_back_unused": "returned path unused",
    "path_dead": "dead path",
    "path_left_out": "path left out",
    "path_slowed": "slower path",
    "path_unused": "unused path",
    "port_reused": "reused port",
    "receive_window": "small receive window",
    "receiver_stuck": "stuck receiver",
    "reinjection_waste": "data sent twice",
    "send_buffer": "small send buffer",
    "served_worse": "served worse than by TCP",
    "short_transfer": "short transfer",
    "slow_start_early": "slow start ended early",
    "slow_start_loss": "loss in slow start",
    "slower_than_single": "slower than a single path",
    "split_connection": "split connection",
    "spurious_timeouts": "spurious time-outs",
    "stripped": "options stripped",
    "tail_losses": "ends of messages lost",
    "timeout_chain": "chain of time-outs",
    "window_clamped": "clamped window",
}


def called(kind: str) -> str:
    """Call a kind as people do."""
    return NAMES.get(kind, kind)


def is_minimum(row: Row) -> bool:
    """Whether it lost more than its cost says; rows of earlier versions do not tell."""
    return bool(row.get("cost_is_minimum"))


def by_cost(rows: Iterable[Row]) -> list[Row]:
    """Order findings by what they cost; of those whose cost is unknown, by how sure they are.

    What no fault caused stands last, however long it took. A long queue, which delays others and
    not the transfer, stands after other unknown costs.
    """
    return sorted(
        rows,
        key=lambda row: (
            row["kind"] in NO_FAULT,
            -(row["cost_s"] or 0.0),
            row["kind"] == "bufferbloat",
            -row["confidence"],
        ),
    )


def counted(findings: Iterable[Iterable[Row]]) -> list[tuple[str, int, float | None]]:
    """Count in how many runs each kind was found, and its median cost where that is known."""
    import statistics

    costs: dict[str, list[float]] = {}
    runs: dict[str, int] = {}
    for rows in findings:
        known: dict[str, float | None] = {}
        for row in rows:
            cost = row["cost_s"]
            before = known.get(row["kind"])
            known[row["kind"]] = before if cost is None else cost + (before or 0.0)
        for kind, cost in known.items():
            runs[kind] = runs.get(kind, 0) + 1
            if cost is not None:
                costs.setdefault(kind, []).append(cost)
    medians = {kind: statistics.median(found) for kind, found in costs.items()}
    order = sorted(runs, key=lambda kind: (-runs[kind], -(medians.get(kind) or 0.0), kind))
    return [(kind, runs[kind], medians.get(kind)) for kind in order]


def own_times(rows: Iterable[Row], connections: Iterable[Row]) -> list[Row]:
    """Give findings with the times that the words of each count from."""
    begins = {row["connection"]: begins_s(row) for row in connections}
    return [
        row | {one: row[one] - begins[row["connection"]] for one in ("from_s", "to_s")}
        for row in rows
    ]


def described(row: Row) -> str:
    """Describe a finding, and its cost where that is known."""
    message = str(row["message"])
    cost = row["cost_s"]
    if cost is None or message.endswith(" lost") or row["kind"] in NO_FAULT:
        return message
    # All that a video stalled is what it lost, rounded as the message rounds.
    if message.endswith(f"the video stalled for {cost:.{1 if cost < 10 else 0}f} s"):
        return message
    return f"{message}: {'at least ' if is_minimum(row) else ''}{text.seconds(cost)} lost"
