"""What the timeline of a scenario did to paths, and how long it lasted."""

from __future__ import annotations

from mptcplab.report.shape import Moment
from mptcplab.report.subject import Subject
from mptcplab.scenario.quantity import DURATION

# What begins something, and what ends it.
ENDS = {"blackout": ("restore",), "hold": ("restore",), "detach": ("attach",)}


def moments(subject: Subject) -> list[Moment]:
    """Give them in order; a run starts with its first packet, so times need no shift."""
    timeline = subject.scenario.get("timeline", [])
    events = sorted(
        ({**event, "at_s": DURATION.parse(event["at"]) / 1e9} for event in timeline),
        key=lambda event: event["at_s"],
    )
    found = []
    for number, event in enumerate(events):
        path, verb, at = event["path"], event["verb"], event["at_s"]
        if at > subject.end_s or verb in ("restore", "attach"):
            continue
        ends = [
            later["at_s"]
            for later in events[number + 1 :]
            if later["path"] == path and later["verb"] in ENDS.get(verb, ())
        ]
        until = (ends[0] if ends else subject.end_s) if verb in ENDS else None
        to = event.get("profile") or event.get("link")
        found.append(Moment(f"{path}: {verb}{f' {to}' if to else ''}", at, until))
    return found
