"""The shape of a page: what Python hands to the page's code, which draws it and defines nothing.

``report-ui/shapes.py`` makes ``report-ui/src/page/shape.ts`` of it, the same in TypeScript. Long
columns are arrays; they reach the page as bytes, everything else as JSON (see ``html.py``).
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Any, Literal

SCHEMA = 1


Role = Literal["data", "total", "baseline", "limit", "retransmission", "reinjection", "timeout"]


@dataclass
class Badge:
    """A word about the whole page, and what it means."""

    text: str
    meaning: str


@dataclass
class Subflow:
    """A subflow that can be switched on and off in all charts at once."""

    subflow: int
    name: str
    #: Number of its colour.
    look: int


@dataclass
class Series:
    """Points over time; ``kind`` says how they are drawn, ``role`` what they are."""

    name: str
    kind: Literal["line", "step", "points"]
    x: array[float]
    y: array[float]
    role: Role = "data"
    #: Number of the subflow; none for the connection as a whole.
    subflow: int | None = None
    #: Number of its colour; none for that of the text.
    look: int | None = None
    #: Number of the capture in ``Page.captures``, and of the packet in it.
    capture: array[int] | None = None
    record: array[int] | None = None
    #: In lanes: until when what a mark stands for lasted.
    until: array[float] | None = None


@dataclass
class Level:
    """A value to compare a chart with: a dotted line across it."""

    name: str
    y: float


@dataclass
class Lane:
    """A row of marks below a chart, or in one of its own; ``y`` of its series is unused."""

    name: str
    series: list[Series]


@dataclass
class Definition:
    """A column of the tables, and what it means."""

    column: str
    meaning: str


@dataclass
class Chart:
    """A chart over the time of the run."""

    title: str
    #: How it is computed, in words, and the columns that it shows.
    note: str
    definitions: list[Definition]
    series: list[Series] = field(default_factory=list)
    #: Name of the value, with its unit; none for a chart of lanes only.
    value: str | None = None
    #: Whether the value's axis always holds 0.
    from_zero: bool = True
    levels: list[Level] = field(default_factory=list)
    lanes: list[Lane] = field(default_factory=list)
    #: What was left out for size, in words.
    thinned: str | None = None
    #: What it is called where charts are listed.
    id: str = ""


@dataclass
class Track:
    """A chart of positions, in metres east and north of the first one."""

    title: str
    #: How it is computed, in words, and the columns that it shows.
    note: str
    definitions: list[Definition]
    #: All positions in the order of time.
    line: Series
    #: The same as points, in classes: x is east, y north.
    series: list[Series]
    #: Whether the classes are grades, the best first (``subflow`` is the number of the grade), or
    #: subflows.
    graded: bool
    #: What it is called where charts are listed.
    id: str = ""


@dataclass
class Moment:
    """Something that the timeline did, or that was found, until ``to_s`` where it lasted."""

    text: str
    at_s: float
    to_s: float | None = None
    #: A finding's span, not what the timeline did.
    found: bool = False


@dataclass
class Event:
    """A line of the event table."""

    at_s: float
    subflow: int | None
    event: str
    text: str
    grave: bool = False
    capture: int | None = None
    record: int | None = None


@dataclass
class Table:
    """A small table, as text; ``numeric`` says which columns are numbers."""

    id: str
    title: str
    columns: list[str]
    numeric: list[bool]
    rows: list[list[str]]
    #: What the columns mean, where that is not plain.
    meanings: list[str | None]


@dataclass
class Fact:
    """A line of the provenance."""

    name: str
    value: str


@dataclass
class Document:
    """A text to unfold or to save under a name."""

    title: str
    file: str
    text: str


@dataclass
class Provenance:
    """Where all of it comes from."""

    facts: list[Fact]
    remarks: list[str]
    #: The command that repeats it, with what it needs among the documents.
    command: str | None = None
    documents: list[Document] = field(default_factory=list)


@dataclass
class Page:
    """The page of one run."""

    title: str
    #: What files are called that are saved of it.
    name: str
    subtitle: str
    badges: list[Badge]
    verdict: list[str]
    from_s: float
    to_s: float
    captures: list[str]
    subflows: list[Subflow]
    tables: list[Table]
    charts: list[Chart]
    tracks: list[Track]
    moments: list[Moment]
    events: list[Event]
    provenance: Provenance
    #: What ``subflows`` are.
    parts: str = "Subflows"
    #: Name of the axis of time.
    time: str = "seconds from the first packet"
    schema: int = SCHEMA
    kind: Literal["run"] = "run"


@dataclass
class StudyPage:
    """The page of a study: tables of what was printed and of what was measured here."""

    title: str
    subtitle: str
    badges: list[Badge]
    verdict: list[str]
    tables: list[Table]
    provenance: Provenance
    schema: int = SCHEMA
    kind: Literal["study"] = "study"


def plain(value: Any) -> dict[str, Any]:
    """Give one of these as what JSON can hold, but for arrays."""
    return dict(vars(value))
