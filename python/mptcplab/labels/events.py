"""What happened on a connection, and what the timeline did to its paths, as text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mptcplab.labels import text
from mptcplab.labels.connections import SENDERS
from mptcplab.quantity import DURATION

Row = dict[str, Any]

FAILED_JOINS = ("join_refused", "join_unanswered", "join_unfinished")
# Of a reset that neither end sent.
FOREIGN = "sent by a middlebox"
GRAVE = frozenset({"fail", "fallback", "fastclose", "gap", "reset", "timeout", *FAILED_JOINS})

DESCRIPTIONS: dict[str, Callable[[Row], str]] = {
    "add_addr": lambda row: (
        f"{_sender(row)} announces address {row['address_id']}: "
        f"{text.endpoint(row['address'], row['port'])}{_in_brackets(row['detail'])}"
    ),
    "remove_addr": lambda row: f"{_sender(row)} withdraws address {row['address_id']}",
    "prio": lambda row: f"{_sender(row)} makes it {row['detail']} (MP_PRIO)",
    "fail": lambda row: f"MP_FAIL from {_sender(row)}{_after_colon(row['detail'])}",
    "fastclose": lambda row: f"MP_FASTCLOSE from {_sender(row)}",
    "reset": lambda row: (
        "reset by a middlebox"
        if row["detail"] == FOREIGN
        else f"reset by {_sender(row)}{_after_colon(row['detail'])}"
    ),
    "fallback": lambda row: f"goes on as plain TCP{_after_colon(row['detail'])}",
    "gap": lambda row: (
        f"no new data from {_sender(row)} for {text.milliseconds(row['duration_ms'])}"
    ),
    "timeout": lambda row: (
        f"{_sender(row)} sent again after a time-out of {text.milliseconds(row['duration_ms'])}"
    ),
    "experimental": lambda row: f"MPTCP option of a kind of its own from {_sender(row)}",
}


def describe(row: Row) -> str:
    """Describe a row of the table ``events``."""
    if row["event"] in DESCRIPTIONS:
        return DESCRIPTIONS[row["event"]](row)
    detail = row["detail"]
    if row["event"] in FAILED_JOINS and detail and row["direction"]:
        detail = with_hosts(detail, SENDERS[row["direction"]])
    return f"{row['event'].replace('_', ' ')}{_after_colon(detail)}"


def with_hosts(remark: str, opener: str) -> str:
    """Name the hosts of a join in a remark on it: who opened it, and who was asked."""
    acceptor = "client" if opener == "server" else "server"
    return remark.replace("the opener", f"the {opener}").replace("the acceptor", f"the {acceptor}")


def _sender(row: Row) -> str:
    return f"the {SENDERS[row['direction']]}"


def _after_colon(detail: str | None) -> str:
    return f": {detail}" if detail else ""


def _in_brackets(detail: str | None) -> str:
    return f" ({detail})" if detail else ""


# What begins something, and what ends it.
ENDED_BY = {"blackout": "restore", "hold": "restore", "detach": "attach"}
CHANGES = {
    "blackout": "blackout, packets vanish",
    "hold": "packets wait",
    "restore": "packets pass again",
    "detach": "detached",
    "attach": "attached",
    "rebind": "a new public address",
    "signal": "another signal",
    "profile": "another link",
}


@dataclass
class Change:
    """What happens to a path, and when it is over where it lasts and ends."""

    at_s: float
    path: str
    verb: str
    until_s: float | None
    link: str | None

    @property
    def is_grave(self) -> bool:
        """Whether nothing passes from then on."""
        return self.verb in ENDED_BY

    @property
    def description(self) -> str:
        """What changes where, and until when."""
        what = CHANGES.get(self.verb, self.verb)
        to = f" ({self.link})" if self.link else ""
        until = "" if self.until_s is None else f" until {text.at(self.until_s)}"
        return text.clean(f"timeline: {self.path}: {what}{to}{until}")


def changes(scenario: dict[str, Any], began_s: float = 0.0) -> list[Change]:
    """Give what happens in order of time, by that of a run that began at ``began_s``."""
    found = [
        Change(
            began_s + DURATION.parse(event["at"]) / 1e9,
            event["path"],
            event["verb"],
            None,
            event.get("profile") or event.get("link"),
        )
        for event in scenario.get("timeline", [])
    ]
    found.sort(key=lambda one: one.at_s)
    for number, one in enumerate(found):
        ends = (
            later.at_s
            for later in found[number + 1 :]
            if later.path == one.path and later.verb == ENDED_BY.get(one.verb)
        )
        one.until_s = next(ends, None)
    return found


def too_late(found: list[Change], end_s: float | None) -> str | None:
    """Name changes that came after the transfer, and so had no effect."""
    late = [] if end_s is None else [one for one in found if one.at_s >= end_s]
    if end_s is None or not late:
        return None
    all_of_it = "the timeline begins" if len(late) == len(found) else "part of the timeline comes"
    first = late[0]
    return text.clean(
        f"{all_of_it} after the transfer, which ended at {text.at(end_s)}, and changed nothing: "
        f"{first.verb} of {first.path} at {text.at(first.at_s)}"
        + (f" and {len(late) - 1} more" if len(late) > 1 else "")
    )
