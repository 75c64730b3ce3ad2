"""Where the summary is drawn: width, colours, wrapped lines."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from itertools import accumulate
from typing import TextIO

from mptcplab.labels.text import clean

STYLES = {"strong": "1", "faint": "2", "good": "32", "warning": "33", "bad": "31"}
STYLED = re.compile("(\x1b\\[(?:0|1|2|3[1-3])(?:;(?:1|2|3[1-3]))*m)")
SEPARATOR = " · "
# For streams whose encoding lacks our signs.
PLAIN = str.maketrans(
    {
        **dict.fromkeys("█▉▊▋▌▍▎▏━", "#"),
        "─": "-",
        "↑": "^",
        "↓": "v",
        "→": "->",
        "±": "+-",
        "–": "-",
        "·": "*",
        "×": "x",
        "…": "...",
        "′": "'",
        "µ": "u",
        "σ": "s",
        "\u202f": " ",
        "\ufffd": "?",
    }
)
# What a file or a pipe is given: there is no edge to keep within.
UNLIMITED = 10_000
# Lines of facts are no longer than this, however wide the page.
COMFORTABLE = 120


def carries(out: TextIO, signs: str) -> bool:
    """Say whether a stream's encoding has these signs."""
    try:
        signs.encode(getattr(out, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def on_stdout() -> Page:
    """Give the page on standard output; what its encoding lacks stands there as a question mark."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return Page()


class Page:
    """Lines on their way to a stream, coloured and fitted where it is a terminal."""

    def __init__(self, out: TextIO | None = None, *, width: int | None = None) -> None:
        self._out = out if out is not None else sys.stdout
        terminal = self._out.isatty()
        self.colour = terminal and "NO_COLOR" not in os.environ
        if width is None:
            width = shutil.get_terminal_size().columns if terminal else UNLIMITED
        self.width = max(width, 40)
        self._plain = not carries(self._out, "█↑–")

    def line(self, text: str = "") -> None:
        """Print a line; whatever names in it hold, only our styles steer the terminal."""
        parts = STYLED.split(text) if self.colour else [text]
        parts[::2] = map(clean, parts[::2])
        self._out.write(self.signs("".join(parts)).rstrip() + "\n")

    def signs(self, text: str) -> str:
        """Write signs that the stream cannot carry in others that it can."""
        return text.translate(PLAIN) if self._plain else text

    def style(self, text: str, *styles: str) -> str:
        """Give text a style, where there are colours."""
        if not self.colour or not styles or not text:
            return text
        return f"\x1b[{';'.join(STYLES[style] for style in styles)}m{text}\x1b[0m"

    def head(self, name: str, title: str | None) -> None:
        """Print what all of the page is about."""
        titles = [clean(title)] if title else []
        self.facts([self.style(clean(name), "strong"), *titles], indent="")
        self.line()

    def facts(self, facts: Iterable[str], *, indent: str = "  ", first: str = "") -> None:
        """Print facts one after the other, on as many lines as they need."""
        lead = indent + first
        width = min(self.width, COMFORTABLE)
        line = lead
        for fact in facts:
            if line == lead:
                line += fact
            elif len(line) + len(SEPARATOR) + len(fact) <= width:
                line += SEPARATOR + fact
            else:
                self.line(line)
                line = " " * len(lead) + fact
        self.line(line)

    def paragraph(self, text: str, *, indent: str = "  ", first: str = "", style: str = "") -> None:
        """Print text, wrapped at spaces where the page is narrow."""
        lead = indent + first
        room = max(self.width - len(lead), 20)
        for number, part in enumerate(_wrapped(clean(text), room)):
            start = lead if number == 0 else " " * len(lead)
            self.line(start + (self.style(part, style) if style else part))


def _wrapped(text: str, room: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > room:
            lines.append(word)
        else:
            lines[-1] += " " * bool(lines[-1]) + word
    return lines


class Column:
    """A column of a table: a heading and cells."""

    def __init__(
        self, heading: str, cells: Sequence[str], *, left: bool = False, keep: int = 0
    ) -> None:
        """The higher ``keep``, the later it is left out of a narrow page; 0 is never left out."""
        self.heading = heading
        self.cells = cells
        self.left = left
        self.keep = keep
        self.width = max(map(len, (heading, *cells)))

    def on(self, page: Page) -> Column:
        """Give the column in signs that the page carries."""
        cells = [page.signs(cell) for cell in self.cells]
        return Column(page.signs(self.heading), cells, left=self.left, keep=self.keep)

    def fitted(self, text: str) -> str:
        """Give a cell its width."""
        return text.ljust(self.width) if self.left else text.rjust(self.width)


def draw(page: Page, columns: Sequence[Column], *, indent: str = "  ") -> None:
    """Print a table, without the columns that the page has no room for."""
    columns = [column.on(page) for column in columns]
    shown = _fitting(columns, page.width - len(indent))
    heading = "  ".join(column.fitted(column.heading) for column in shown)
    page.line(indent + page.style(heading.rstrip(), "faint"))
    for row in zip(*(column.cells for column in shown), strict=True):
        cells = (column.fitted(cell) for column, cell in zip(shown, row, strict=True))
        page.line(indent + "  ".join(cells))
    absent = [column.heading for column in columns if column.heading and column not in shown]
    if absent:
        note = f"left out for width: {', '.join(absent)}; --json has all"
        page.paragraph(note, indent=indent, style="faint")


def _fitting(columns: Sequence[Column], room: int) -> list[Column]:
    by_worth = sorted(columns, key=lambda column: -column.keep if column.keep else -1e9)
    widths = accumulate(column.width + 2 for column in by_worth)
    fits = {
        id(column)
        for column, width in zip(by_worth, widths, strict=True)
        if width - 2 <= room or not column.keep
    }
    return [column for column in columns if id(column) in fits]
