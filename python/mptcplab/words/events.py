"""What happened on a connection, in words."""

from __future__ import annotations

from mptcplab.words import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Row = dict[str, Any]

# Who sent a packet of a direction.
SENDERS = {"up": "the client", "down": "the server"}
FAILED_JOINS = ("join_refused", "join_unanswered", "join_unfinished")
GRAVE = frozenset({"fail", "fallback", "fastclose", "gap", "reset", "timeout", *FAILED_JOINS})

WORDS: dict[str, Callable[[Row], str]] = {
    "add_addr": lambda row: (
        f"{SENDERS[row['direction']]} announces address {row['address_id']}: "
        f"{text.endpoint(row['address'], row['port'])}{_in_brackets(row['detail'])}"
    ),
    "remove_addr": lambda row: f"{SENDERS[row['direction']]} withdraws address {row['address_id']}",
    "prio": lambda row: f"{SENDERS[row['direction']]} makes it {row['detail']} (MP_PRIO)",
    "fail": lambda row: f"MP_FAIL from {SENDERS[row['direction']]}{_after_colon(row['detail'])}",
    "fastclose": lambda row: f"MP_FASTCLOSE from {SENDERS[row['direction']]}",
    "reset": lambda row: f"reset by {SENDERS[row['direction']]}{_after_colon(row['detail'])}",
    "fallback": lambda row: f"goes on as plain TCP{_after_colon(row['detail'])}",
    "gap": lambda row: (
        f"no new data from {SENDERS[row['direction']]} for {text.milliseconds(row['duration_ms'])}"
    ),
    "timeout": lambda row: (
        f"{SENDERS[row['direction']]} sent again after a time-out of "
        f"{text.milliseconds(row['duration_ms'])}"
    ),
    "experimental": lambda row: (
        f"MPTCP option of a kind of its own from {SENDERS[row['direction']]}"
    ),
}


def told(row: Row) -> str:
    """Tell of a row of the table ``events``."""
    if row["event"] in WORDS:
        return WORDS[row["event"]](row)
    return f"{row['event'].replace('_', ' ')}{_after_colon(row['detail'])}"


def _after_colon(words: str | None) -> str:
    return f": {words}" if words else ""


def _in_brackets(words: str | None) -> str:
    return f" ({words})" if words else ""
