"""Logs of radios: CSV with a header line that names the columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import tzinfo
from typing import Any

from mptcplab.messages import nearest
from mptcplab.surroundings import moments, quantities

TIME, PATH = "time", "path"
TEXT_COLUMNS = ("technology", "cell", "band")
COLUMNS = (TIME, PATH, *TEXT_COLUMNS, *quantities.RADIO)
# Android's CellInfo.UNAVAILABLE.
UNAVAILABLE = "2147483647"


def read(text: str, path: str | None, zone: tzinfo | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give each row with the number of its line.

    Args:
        text: What the file holds.
        path: The path of rows that name none.
        zone: The time zone of times that name none.

    Raises:
        ValueError: Something is wrong; its second argument is the number of the line.
    """
    lines = csv.reader(text.splitlines(), strict=True)
    try:
        header = [name.strip() for name in next(lines, [])]
        _check(header, path)
        for cells in lines:
            if any(cell.strip() for cell in cells):
                yield lines.line_num, _row(header, cells, path, zone)
    except (csv.Error, ValueError) as error:
        raise ValueError(str(error), max(lines.line_num, 1)) from error


def _check(header: list[str], path: str | None) -> None:
    for number, name in enumerate(header):
        if name not in COLUMNS:
            raise ValueError(f"there is no column {name!r}: {nearest(name, COLUMNS)}")
        if name in header[:number]:
            raise ValueError(f"column {name} is there twice")
    if TIME not in header:
        raise ValueError(f"column {TIME} is missing: the first line names the columns")
    if PATH not in header and path is None:
        raise ValueError(f"column {PATH} is missing, and no path was said (--path)")


def _row(
    header: list[str], cells: list[str], path: str | None, zone: tzinfo | None
) -> dict[str, Any]:
    if len(cells) != len(header):
        raise ValueError(f"{len(cells)} cells, and the first line names {len(header)} columns")
    values = {name: cell.strip() for name, cell in zip(header, cells, strict=True)}
    row_path = values.get(PATH) or path
    if row_path is None:
        raise ValueError(f"{PATH} is empty, and no path was said (--path)")
    row: dict[str, Any] = {"at_ns": moments.read(values[TIME], zone), "path": row_path}
    for name, cell in values.items():
        if name in TEXT_COLUMNS:
            row[name] = cell or None
        elif name in quantities.RADIO and cell not in ("", UNAVAILABLE):
            row[name] = quantities.number(name, cell, quantities.RADIO)
    return row
