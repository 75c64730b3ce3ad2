"""The result of one check of the doctor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["fine", "limited", "missing", "unknown"]


@dataclass(frozen=True)
class Check:
    """One check and its result."""

    #: What was checked.
    name: str
    #: ``missing``: the kernel engine cannot run without; ``unknown``: it cannot be checked since
    #: something else is missing.
    verdict: Verdict
    #: What was found.
    found: str
    #: What follows from it; empty where all is fine.
    meaning: str = ""
    #: The command that would mend it; empty where there is none.
    mend: str = ""

    def line(self) -> str:
        """Give all of it in one line."""
        line = f"{self.name}: {self.found}"
        if self.meaning:
            line += f"; {self.meaning}"
        return f"{line}. To mend it: {self.mend}" if self.mend else line


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
