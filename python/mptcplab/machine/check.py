"""What the doctor says of one thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["fine", "limited", "missing", "unknown"]


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    #: What was looked at.
    name: str
    #: ``missing``: the kernel engine cannot run without; ``unknown``: another thing that is missing
    #: keeps us from looking.
    verdict: Verdict
    #: What is there.
    found: str
    #: What follows from it; empty where all is fine.
    meaning: str = ""
    #: The command that would mend it; empty where there is none.
    mend: str = ""

    def line(self) -> str:
        """Say all of it in one line."""
        said = f"{self.name}: {self.found}"
        if self.meaning:
            said += f"; {self.meaning}"
        return f"{said}. To mend it: {self.mend}" if self.mend else said


def fine(name: str, found: str, meaning: str = "") -> Check:
    """All is well."""
    return Check(name, "fine", found, meaning)


def limited(name: str, found: str, meaning: str, mend: str = "") -> Check:
    """The kernel engine runs, with less."""
    return Check(name, "limited", found, meaning, mend)


def missing(name: str, found: str, meaning: str, mend: str = "") -> Check:
    """The kernel engine does not run."""
    return Check(name, "missing", found, meaning, mend)


def unknown(name: str) -> Check:
    """Could not be tried."""
    return Check(name, "unknown", "not tried: there are no namespaces to try it in")
