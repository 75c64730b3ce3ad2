"""A file of measurements, and the options for reading it."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Mapping
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

    @cached_property
    def head(self) -> str:
        """Its first line that is not blank."""
        start = self.text[:HEAD_BYTES].lstrip()
        return start.partition("\n")[0].strip()

    @cached_property
    def columns(self) -> list[str]:
        """The columns, if the first line is the header of a CSV."""
        return [name.strip().strip('"') for name in self.head.split(",")]

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
    """Make a file of a text, with commas between cells, and points in numbers, if it is a CSV."""
    own = File(path, text, direction or direction_of(path))
    separator = max(SEPARATORS, key=own.head.count)
    if own.head.startswith(("{", "[")) or own.head.count(separator) <= own.head.count(","):
        return own
    made = io.StringIO()
    try:
        csv.writer(made, lineterminator="\n").writerows(
            [DECIMAL.sub(r"\1.\2", cell) if DECIMAL.fullmatch(cell) else cell for cell in cells]
            for cells in csv.reader(text.splitlines(), delimiter=separator)
        )
    except csv.Error:
        return own
    note = f"cells stand between {SEPARATORS[separator]}; commas in numbers are decimal points"
    return replace(own, text=made.getvalue(), notes=(note,))


def direction_of(path: Path) -> str | None:
    """Give the direction that a file's name contains."""
    words = words_of(path.name)
    found = [direction for direction, names in DIRECTIONS.items() if set(names) & set(words)]
    return found[0] if len(found) == 1 else None


def words_of(text: str) -> list[str]:
    """Split a name at what is neither letter nor digit."""
    return "".join(one if one.isalnum() else " " for one in text.lower()).split()
