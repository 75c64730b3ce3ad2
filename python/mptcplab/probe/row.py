"""A row of the table ``probes``."""

from __future__ import annotations

from typing import NamedTuple

CLEAR, ALTERED, BLOCKED, UNKNOWN = "clear", "altered", "blocked", "unknown"


class Row(NamedTuple):
    """What a probe found on a path."""

    path: str
    #: What was tried; the page on probes has a line for each.
    probe: str
    #: ``clear``, ``altered``, ``blocked``, or ``unknown``: the evidence is one-sided.
    verdict: str
    sent: str
    arrived: str
    evidence: str
