"""Tracks as GPX 1.1 (topografix.com/GPX/1/1), 1.0 as well."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from typing import Any
from xml.parsers import expat

from mptcplab.surroundings import moments, quantities

# Elements of a track point (wptType); GPX 1.0 has speed and course there, 1.1 in extensions.
NUMBERS = {"ele": "altitude_m", "speed": "speed_mps", "course": "course_deg"}


def read(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give each track point with the number of its line.

    Times are in UTC, as GPX 1.1 says of ``time``, where they name no other zone.

    Raises:
        ValueError: Something is wrong; its second argument is the number of the line.
    """
    reader = _Reader()
    try:
        reader.parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise ValueError(f"no XML: {expat.ErrorString(error.code)}", error.lineno) from error
    except ValueError as error:
        raise ValueError(str(error), reader.parser.CurrentLineNumber) from error
    if not reader.is_gpx:
        raise ValueError("no GPX: its outermost element is another one", 1)
    yield from reader.rows


class _Reader:
    def __init__(self) -> None:
        self.is_gpx = False
        self.rows: list[tuple[int, dict[str, Any]]] = []
        self._point: dict[str, Any] | None = None
        self._line = 0
        self._depth = 0
        self._text = ""
        self.parser = expat.ParserCreate("utf-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        # Entities of its own can make a small file a large one.
        self.parser.EntityDeclHandler = self._refuse

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if self._depth == 0:
            self.is_gpx = name == "gpx"
        self._depth += 1
        self._text = ""
        if name == "trkpt":
            self._line = self.parser.CurrentLineNumber
            self._point = {}
            for column, attribute in (("latitude_deg", "lat"), ("longitude_deg", "lon")):
                if attribute not in attributes:
                    raise ValueError(f"trkpt has no {attribute}")
                self._point[column] = quantities.number(
                    column, attributes[attribute], quantities.POSITIONS
                )

    def _characters(self, text: str) -> None:
        self._text += text

    def _end(self, name: str) -> None:
        name = name.rpartition(":")[2]
        self._depth -= 1
        if self._point is None:
            return
        if name == "time":
            self._point["at_ns"] = moments.read(self._text, UTC)
        elif name in NUMBERS:
            column = NUMBERS[name]
            self._point[column] = quantities.number(
                column, self._text.strip(), quantities.POSITIONS
            )
        elif name == "trkpt":
            if "at_ns" not in self._point:
                raise ValueError("trkpt has no time: it can be joined to nothing")
            self.rows.append((self._line, self._point))
            self._point = None

    def _refuse(self, *_: object) -> None:
        raise ValueError("entities of its own are refused")
