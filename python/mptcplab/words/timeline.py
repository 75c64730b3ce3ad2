"""What the timeline of a scenario does to paths, in words."""

from __future__ import annotations

from dataclasses import dataclass

from mptcplab.scenario.quantity import DURATION
from mptcplab.words import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What begins something, and what ends it.
ENDS = {"blackout": "restore", "hold": "restore", "detach": "attach"}
WORDS = {
    "blackout": "blackout, packets vanish",
    "hold": "packets wait",
    "restore": "packets pass again",
    "detach": "detached",
    "attach": "attached",
    "rebind": "a new public address",
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
        return self.verb in ENDS

    @property
    def words(self) -> str:
        """Say it."""
        what = WORDS.get(self.verb, self.verb)
        to = f" ({self.link})" if self.link else ""
        until = "" if self.until_s is None else f" until {text.at(self.until_s)}"
        return text.clean(f"timeline: {self.path}: {what}{to}{until}")


def changes(scenario: dict[str, Any]) -> list[Change]:
    """Give what happens in order of time; a run begins with its first packet, at 0."""
    found = [
        Change(
            DURATION.parse(event["at"]) / 1e9,
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
            if later.path == one.path and later.verb == ENDS.get(one.verb)
        )
        one.until_s = next(ends, None)
    return found


def too_late(found: list[Change], end_s: float | None) -> str | None:
    """Say which changes came after the transfer, and so changed nothing."""
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
