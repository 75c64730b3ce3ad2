"""CSV files whose columns are known: what each column becomes, and nothing else to write."""

from __future__ import annotations

import csv
import math
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from mptcplab.messages import nearest
from mptcplab.recordings.clock import Clock
from mptcplab.recordings.file import DECIMAL, THOUSANDS, File, Options
from mptcplab.recordings.recording import NONE, QUANTITIES, Recording, Sample
from mptcplab.surroundings import quantities, radio_log

Row: TypeAlias = dict[str, str]

# How data sets write that there is no value; the last is Android's CellInfo.UNAVAILABLE.
MISSING = frozenset({"", "-", "NA", "N/A", "NaN", "nan", "None", "null", radio_log.UNAVAILABLE})
RADIO = (*radio_log.TEXT_COLUMNS, *quantities.RADIO)
POSITION = tuple(quantities.POSITIONS)
# Numbers are smaller, those of nanoseconds since 1970, too.
LARGEST = 1e20
# Of a row's number in its run: a row a second.
SECONDS = 10**9


@dataclass(frozen=True)
class Column:
    """A column and what it becomes: a quantity, or a column of ``radio`` or ``positions``."""

    name: str
    becomes: str
    factor: float = 1

    @property
    def label(self) -> str:
        """Say it in a line."""
        return self.name if self.name == self.becomes else f"{self.name} → {self.becomes}"


@dataclass(frozen=True)
class Table:
    """A format that is a CSV with a line of names."""

    name: str
    title: str
    #: Columns that only this format has together.
    needs: tuple[str, ...]
    columns: tuple[Column, ...]
    licence: str
    #: Reads the time of a row, with the file's clock; where there is none, ``number`` counts rows.
    time: Callable[[Row, Clock], int] | None = None
    number: str | None = None
    #: Columns that tell apart what must not be mixed: runs, and whose network it was.
    runs: tuple[str, ...] = ()
    carrier: str | None = None
    rates: str | None = None
    empty: str = ""
    missing: frozenset[str] = field(default=MISSING)

    @property
    def reads(self) -> str:
        """Say which columns are read, and what they become."""
        return ", ".join(column.label for column in self.columns)

    def matches(self, file: File) -> bool:
        """Say whether a file's first line has its columns."""
        return set(self.needs) <= set(file.columns)

    def read(self, file: File, options: Options) -> list[Recording]:
        """Give a recording for each carrier in the file.

        Raises:
            ValueError: Something is wrong; its second argument is the number of the line.
        """
        clock = Clock(options.zone)
        found: dict[str | None, Recording] = {}
        runs: dict[str | None, tuple[str, ...]] = {}
        for line, row in rows(file, self.needs, options):
            try:
                who = row.get(self.carrier or "")
                self._check_run(row, runs, who)
                recording = found.setdefault(who, Recording(name=who, rates=self.rates))
                recording.samples.append(self._sample(line, row, clock, file, recording.notes))
            except ValueError as error:
                raise ValueError(str(error), line) from error
        for recording in found.values():
            recording.clock = NONE if self.time is None else clock.state
            recording.notes[:0] = clock.notes
        return list(found.values())

    def _check_run(
        self, row: Row, runs: dict[str | None, tuple[str, ...]], who: str | None
    ) -> None:
        """Refuse to take several runs as one."""
        here = tuple(f"{name}={row[name]}" for name in self.runs if name in row)
        if runs.setdefault(who, here) != here:
            chosen = " ".join(f"--where {shlex.quote(one)}" for one in here)
            raise ValueError(
                f"another run begins ({' '.join(here)}, after {' '.join(runs[who])}): "
                f"choose one, as by {chosen}"
            )

    def _sample(self, line: int, row: Row, clock: Clock, file: File, notes: list[str]) -> Sample:
        if self.time is not None:
            at_ns = self.time(row, clock)
        else:
            at_ns = round(number(row, self.number or "") * SECONDS)
        sample = Sample(line, at_ns)
        for column in self.columns:
            cell = row.get(column.name, "")
            if cell not in self.missing:
                put(sample, column, cell, file.direction, notes)
        return sample


def put(sample: Sample, column: Column, cell: str, direction: str | None, notes: list[str]) -> None:
    """Add what a cell holds to a sample.

    A rate of no known direction (``mbps``) is that of the file, down where that has none.

    Raises:
        ValueError: It is not a number, or one that cannot be.
    """
    becomes = column.becomes
    if becomes == "mbps":
        becomes = f"{direction or 'down'}_mbps"
    if becomes in radio_log.TEXT_COLUMNS:
        sample.radio[becomes] = cell
        return
    value = _number(cell, column.name) * column.factor
    if becomes in QUANTITIES:
        if value < 0:
            raise ValueError(f"{column.name} is {cell}: it must be 0 or more, or empty")
        sample.values[becomes] = value
        return
    limits = quantities.RADIO if becomes in quantities.RADIO else quantities.POSITIONS
    try:
        quantities.checked(becomes, value, limits)
    except ValueError:
        # Phones report such: what they could not measure, mostly.
        note = f"values of {column.name} that cannot be are left out"
        if note not in notes:
            notes.append(note)
        return
    (sample.radio if becomes in quantities.RADIO else sample.position)[becomes] = value


def rows(file: File, needs: tuple[str, ...], options: Options) -> Iterator[tuple[int, Row]]:
    """Give the rows that count, with the number of their line.

    Raises:
        ValueError: Something is wrong; its second argument is the number of the line.
    """
    lines = csv.reader(file.text.splitlines(), strict=True)
    try:
        header = _header(lines, needs, options)
        for cells in lines:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                raise ValueError(
                    f"{len(cells)} cells, and the first line names {len(header)} columns: mend or "
                    "remove the line"
                )
            row = dict(zip(header, map(str.strip, cells), strict=True))
            if all(file.holds(row[name], value) for name, value in options.where.items()):
                yield lines.line_num, row
    except (csv.Error, ValueError) as error:
        raise ValueError(
            str(error.args[0]), *(error.args[1:] or (max(lines.line_num, 1),))
        ) from error


def _header(lines: Iterator[list[str]], needs: tuple[str, ...], options: Options) -> list[str]:
    header: list[str] = next((cells for cells in lines if any(cell.strip() for cell in cells)), [])
    names = [name.strip() for name in header]
    for name in needs:
        if name not in names:
            raise ValueError(
                f"there is no column {name!r}; the first line names {', '.join(names) or 'none'}"
            )
        if names.count(name) > 1:
            raise ValueError(f"there are two columns {name!r}: name one of them otherwise")
    for name in options.where:
        if name not in names:
            raise ValueError(f"there is no column {name!r} for --where: {nearest(name, names)}")
    return names


def number(row: Row, name: str) -> float:
    """Read a number that must be there.

    Raises:
        ValueError: It is none.
    """
    return _number(row[name], name)


def _number(cell: str, name: str) -> float:
    if DECIMAL.fullmatch(cell) or THOUSANDS.fullmatch(cell):
        raise ValueError(
            f"{name} is {cell!r}, and its comma may stand for thousands or decimals: write the "
            "file's numbers with decimal points, and with nothing between thousands"
        )
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not abs(value) < LARGEST:
        raise ValueError(
            f"{name} is {cell!r}: it must be a number; mend it, or leave the cell empty"
        )
    return value
