"""On which line of a TOML file each key stands: tomllib does not tell.

The text has been read by tomllib before, so that only valid TOML comes here.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right

Place = tuple[str | int, ...]

BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
BARE = re.compile(r"[A-Za-z0-9_-]+")
STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"""+|\'\'\'.*?\'\'\'+|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL
)
SCALAR = re.compile(r"[^,\]}\n#]+")


def lines(text: str) -> dict[Place, int]:
    """Give the line, from 1, on which each table, key and element of a list begins."""
    return _Scan(text).all()


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.starts = [0, *(sign.end() for sign in re.finditer("\n", text))]
        self.found: dict[Place, int] = {}
        # How many tables each list of tables has so far.
        self.counts: dict[Place, int] = {}

    def all(self) -> dict[Place, int]:
        table: Place = ()
        self.skip()
        while self.at < len(self.text):
            if self.peek() == "[":
                table = self.header()
            else:
                self.pair(table)
            self.skip()
        return self.found

    def header(self) -> Place:
        line = self.line()
        several = self.text.startswith("[[", self.at)
        self.at += 1 + several
        keys = self.keys()
        self.at += 1 + several
        place: Place = ()
        for key in keys[:-1]:
            place += (key,)
            if place in self.counts:
                place += (self.counts[place] - 1,)
        place += (keys[-1],)
        if several:
            self.found.setdefault(place, line)
            self.counts[place] = self.counts.get(place, 0) + 1
            place += (self.counts[place] - 1,)
        self.found[place] = line
        return place

    def pair(self, table: Place) -> None:
        line = self.line()
        for key in self.keys():
            table += (key,)
            self.found.setdefault(table, line)
        self.at += 1
        self.skip()
        self.value(table)

    def keys(self) -> list[str]:
        keys = []
        while True:
            self.skip()
            quoted = STRING.match(self.text, self.at)
            found = quoted or BARE.match(self.text, self.at)
            assert found, "tomllib has read this"  # noqa: S101
            self.at = found.end()
            keys.append(tomllib.loads(f"k = {found[0]}")["k"] if quoted else found[0])
            self.skip()
            if self.peek() != ".":
                return keys
            self.at += 1

    def value(self, place: Place) -> None:
        sign = self.peek()
        if sign == "[":
            self.several("]", place)
        elif sign == "{":
            self.several("}", place)
        else:
            found = STRING.match(self.text, self.at) or SCALAR.match(self.text, self.at)
            self.at = found.end() if found else self.at + 1

    def several(self, end: str, place: Place) -> None:
        self.at += 1
        number = 0
        self.skip()
        while self.peek() != end:
            if end == "}":
                self.pair(place)
            else:
                self.found[*place, number] = self.line()
                self.value((*place, number))
                number += 1
            self.skip()
            if self.peek() == ",":
                self.at += 1
                self.skip()
        self.at += 1

    def skip(self) -> None:
        found = BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def line(self) -> int:
        return bisect_right(self.starts, self.at)
