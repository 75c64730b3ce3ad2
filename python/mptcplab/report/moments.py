"""What the timeline of a scenario did to paths, and how long it lasted."""

from __future__ import annotations

from mptcplab.labels.events import ENDED_BY, changes
from mptcplab.report.shape import Moment
from mptcplab.report.subject import Subject


def moments(subject: Subject) -> list[Moment]:
    """Give them in order; a run starts with its first packet, so times need no shift."""
    found = []
    for one in changes(subject.scenario):
        if one.at_s > subject.end_s or one.verb in ("restore", "attach"):
            continue
        until = one.until_s if one.until_s is not None else subject.end_s
        words = f"{one.path}: {one.verb}{f' {one.link}' if one.link else ''}"
        found.append(Moment(words, one.at_s, until if one.verb in ENDED_BY else None))
    return found
