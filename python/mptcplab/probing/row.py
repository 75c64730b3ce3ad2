"""A row of the table ``probes``."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

CLEAR, ALTERED, BLOCKED, UNKNOWN = "clear", "altered", "blocked", "unknown"


@dataclass(frozen=True)
class Row:
    """What a probe found on a path."""

    path: str
    #: What was tried; the page on probes has a line for each.
    probe: str
    #: ``clear``, ``altered``, ``blocked``, or ``unknown``: the evidence is one-sided.
    verdict: str
    sent: str
    arrived: str
    evidence: str
    #: When the verdict was reached, Unix time.
    at_ns: int = field(default_factory=time.time_ns, compare=False)
