"""Rows of measurements as subjects."""

from __future__ import annotations

from pathlib import Path

from mptcplab._core import Error
from mptcplab.calibration.subject import Subject, of_row
from mptcplab.scenario.fault import nearest
from mptcplab.study import measurements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike


def subject(row: str, targets: str | PathLike[str] | None = None) -> Subject:
    """Give the subject of a row."""
    known = subjects(targets)
    if row not in known:
        raise Error(f"there is no row {row} of single-path figures; {nearest(row, known)}")
    if not known[row].targets:
        raise Error(f"{row}: has no figure that a link could be fitted to")
    return known[row]


def subjects(targets: str | PathLike[str] | None = None) -> dict[str, Subject]:
    """Give those of all rows with single-path figures, in their order."""
    read = measurements.load() if targets is None else measurements.load(Path(targets))
    return {
        name: of_row(row, read.spread.get(row.paper, "unknown"))
        for name, row in read.single_path.items()
    }
