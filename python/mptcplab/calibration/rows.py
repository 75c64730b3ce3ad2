"""Rows of measurements as subjects."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from mptcplab import measurements
from mptcplab._core import Error
from mptcplab.calibration.subject import Subject, of_row
from mptcplab.measurements import Measurements
from mptcplab.messages import nearest


def subject(row: str, targets: str | PathLike[str] | None = None) -> Subject:
    """Give the subject of a row."""
    known = subjects(targets)
    if row not in known:
        if row in (read := _read(targets)).multipath or row in read.mobile:
            raise Error(f"{row} is of several paths: links are calibrated on single ones alone")
        raise Error(f"there is no row {row} of single-path figures; {nearest(row, known)}")
    if not known[row].targets:
        raise Error(f"{row}: has no figure that a link could be fitted to")
    return known[row]


def subjects(targets: str | PathLike[str] | None = None) -> dict[str, Subject]:
    """Give those of all rows with single-path figures, in their order."""
    read = _read(targets)
    return {
        name: of_row(row, read.spread.get(row.paper, "unknown"))
        for name, row in read.single_path.items()
    }


def _read(targets: str | PathLike[str] | None) -> Measurements:
    return measurements.load() if targets is None else measurements.load(Path(targets))
