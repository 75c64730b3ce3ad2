"""A file of measurements, and the options for reading it."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from functools import cached_property
from pathlib import Path

from mptcplab import reading
from mptcplab._core import Error

# Words of file names that name a direction.
DIRECTIONS = {
    "down": ("down", "downlink", "downlinks", "download", "dl"),
    "up": ("up", "uplink", "uplinks", "upload", "ul"),
}
HEAD_BYTES = 1 << 16
# What stands between cells where decimal commas are usual.
SEPARATORS = {";": "semicolons", "\t": "tabs"}
DECIMAL = re.compile(r"(\s*[+-]?\d+),(\d+\s*)")
POINT = re.compile(r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?\s*")
# May be a thousand and more, or a number with three decimals.
THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}(?:,\d{3})+\s*")
QUOTED = re.compile(r'"[^"]*"')


@dataclass(frozen=True)
class Options:
    """How to read files that do not tell it themselves."""

    zone: tzinfo | None = None
    #: Rows that count: what a column must hold.
    where: Mapping[str, str] = field(default_factory=dict)
    #: Of ``csv``: the column of each quantity.
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class File:
    """A file of text."""

    path: Path
    text: str
    #: The direction that was given, or that its name has.
    direction: str | None = None
    #: What was done to read it.
    notes: tuple[str, ...] = ()
    #: Whether commas in its numbers became points.
    is_pointed: bool = False

    @cached_property
    def head(self) -> str:
        """Its first line that is not blank."""
        start = self.text[:HEAD_BYTES].lstrip()
        return start.partition("\n")[0].strip()

    @cached_property
    def columns(self) -> list[str]:
        """The columns, if the first line is the header of a CSV."""
        names = next(csv.reader(self.head.splitlines()), [""])
        return [name.strip().strip('"') for name in names]

    def holds(self, cell: str, value: str) -> bool:
        """Say whether a cell has a value, as the file writes it or as it is read."""
        return cell == value or (self.is_pointed and cell == _pointed(value))

    @cached_property
    def sha256(self) -> str:
        """The checksum."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()


def read(path: Path, direction: str | None) -> File:
    """Read a file.

    Raises:
        Error: It cannot be read, is no text, or is larger than such files are.
    """
    try:
        text = reading.read_text(path, reading.MOST_TRACE_BYTES).removeprefix("\ufeff")
    except OSError as error:
        raise Error(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise Error(f"{path} is not text: unpack it first if it is compressed") from error
    return of_text(path, text, direction)


def of_text(path: Path, text: str, direction: str | None = None) -> File:
    """Make a file of a text, with commas between cells, and points in numbers, if it is a CSV.

    Commas that may stand for thousands are left, for readers to refuse.
    """
    own = File(path, text, direction or direction_of(path))
    bare = QUOTED.sub("", own.head)
    separator = max(SEPARATORS, key=bare.count)
    if own.head.startswith(("{", "[")) or bare.count(separator) <= bare.count(","):
        return own
    made = io.StringIO()
    try:
        pointed = _with_decimals(_cells(text, separator))
        csv.writer(made, lineterminator="\n").writerows(
            [_pointed(cell) if at in pointed else cell for at, cell in enumerate(cells)]
            for cells in _cells(text, separator)
        )
    except csv.Error:
        return own
    note = f"cells stand between {SEPARATORS[separator]}"
    if pointed:
        note += "; commas in numbers are decimal points"
    return replace(own, text=made.getvalue(), notes=(note,), is_pointed=bool(pointed))


def _cells(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(text.splitlines(), delimiter=separator)


def _with_decimals(rows: Iterable[list[str]]) -> set[int]:
    """Give the columns in which commas are decimal points; none where points are."""
    found = set()
    for cells in rows:
        for at, cell in enumerate(cells):
            if POINT.fullmatch(cell):
                return set()
            if DECIMAL.fullmatch(cell) and not THOUSANDS.fullmatch(cell):
                found.add(at)
    return found


def _pointed(cell: str) -> str:
    return DECIMAL.sub(r"\1.\2", cell) if DECIMAL.fullmatch(cell) else cell


def direction_of(path: Path) -> str | None:
    """Give the direction that a file's name contains."""
    words = words_of(path.name)
    found = [direction for direction, names in DIRECTIONS.items() if set(names) & set(words)]
    return found[0] if len(found) == 1 else None


def words_of(text: str) -> list[str]:
    """Split a name at what is neither letter nor digit."""
    return "".join(one if one.isalnum() else " " for one in text.lower()).split()
