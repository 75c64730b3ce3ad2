"""What papers printed of their radio: what can be used, and what cannot have been."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mptcplab import measurements
from mptcplab.radio import named
from mptcplab.radio.limit import Ceiling, ceiling
from mptcplab.radio.technology import Technology


@dataclass(frozen=True)
class Verdict:
    """A value that was printed, and whether a rate follows from it."""

    where: str
    technology: str
    measure: str
    value: float
    unit: str
    ceiling: Ceiling | None
    #: Why it is shown only; empty if it is used.
    refused: str = ""


def judged(where: str, technology: Technology, measure: str, value: float) -> Verdict:
    """Judge a value of one of the technology's measures."""
    found = technology.measures[measure]
    given = (where, technology.name, measure, value, found.unit)
    if not found.holds(value):
        span = f"{found.least:g} to {found.most:g} {found.unit}"
        return Verdict(*given, None, f"outside {span} ({found.source}): shown, not used")
    if not found.used:
        return Verdict(*given, None, "no rate follows from it: shown, not used")
    return Verdict(*given, ceiling(technology, value, found.unit))


def of_papers() -> Iterator[Verdict]:
    """Judge all that the papers of the study printed."""
    measured = measurements.load()
    for paper in measured.papers.values():
        for modem, values in paper.setup.get("radio_as_printed", {}).items():
            for name, value in values.items():
                measure = name.rpartition("_")[0]
                yield judged(f"{paper.id} {modem}", named("lte"), measure, value)
    for row in measured.single_path.values():
        for name, value in row.radio.items():
            kind, measure, _ = name.split("_")
            technology = "802.11g" if kind == "wifi" else kind
            yield judged(row.id, named(technology), measure, value)
