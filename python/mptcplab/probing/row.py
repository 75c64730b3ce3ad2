"""A row of the table ``probes``."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CLEAR, ALTERED, BLOCKED, UNKNOWN = "clear", "altered", "blocked", "unknown"
#: Verdicts that say that something stands in the path.
FOUND = (ALTERED, BLOCKED)


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


def details(row: Mapping[str, Any]) -> str:
    """Give what was sent, what arrived, and the evidence, in a line."""
    facts = f"{row['sent']} → {row['arrived']}" if row["sent"] or row["arrived"] else ""
    return " · ".join(filter(None, (facts, row["evidence"])))
