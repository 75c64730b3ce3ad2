"""Files that were written beside a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import tzinfo
from pathlib import Path
from typing import Any, TypeAlias

from mptcplab import reading
from mptcplab._core import Error
from mptcplab.surroundings import gpx, nmea, radio_log

Row: TypeAlias = dict[str, Any]
Numbered: TypeAlias = Iterator[tuple[int, Row]]


def read_radio(file: Path, path: str | None = None, zone: tzinfo | None = None) -> list[Row]:
    """Read a CSV of samples of radios, in the order of time.

    Args:
        file: The first line names its columns: ``time``, ``path``, and those of ``radio``.
        path: The path of rows that name none.
        zone: The time zone of times that name none.

    Raises:
        Error: It cannot be read; says in which line, and why.
    """
    return _read(file, lambda text: radio_log.read(text, path, zone))


def read_positions(file: Path) -> list[Row]:
    """Read a GPX file, or one of NMEA 0183 sentences, in the order of time.

    Raises:
        Error: It cannot be read; says in which line, and why.
    """
    return _read(
        file, lambda text: (gpx if text.lstrip("\ufeff \t\r\n")[:1] == "<" else nmea).read(text)
    )


def _read(file: Path, read: Callable[[str], Numbered]) -> list[Row]:
    try:
        text = reading.read_text(file, reading.MOST_TRACE_BYTES).removeprefix("\ufeff")
        rows = [row for _, row in read(text)]
    except OSError as error:
        raise Error(f"cannot read {file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise Error(f"{file} is not text") from error
    except ValueError as error:
        message, line = error.args
        raise Error(f"{file}, line {line}: {message}") from error
    if not rows:
        raise Error(f"{file} has no row")
    return sorted(({**row, "source": file.name} for row in rows), key=lambda row: int(row["at_ns"]))
