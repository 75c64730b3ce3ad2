"""The ledger of a schedule: what was reserved and used of budgets, and what became of visits.

A file of JSON lines to which lines are added and which never changes otherwise. Each has ``entry``:

- ``calendar``: ``began_ns``, ``time_zone``, ``measured`` (a digest of what is run), ``visits`` and
  ``dues`` (their number, and a digest of their times), ``lasts_s`` (how long each ``[[calendar]]``
  goes on). A later one follows when it goes on longer.
- ``reserve``, before a visit: ``visit``, ``at_ns``, by path ``bytes`` (the most that it takes) and
  ``carried`` (what the interface had carried, and ``since`` when it counts).
- ``settle``, after it: ``visit``, ``at_ns``, by path ``bytes`` (what it took), ``ended`` (whether
  all its runs were tried), ``failed`` (why, by run).
- ``missed``: ``visit``, ``at_ns``, ``reason`` (one of :data:`REASONS`), ``why`` (in words).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

LEDGER = "ledger.jsonl"
#: Why visits are missed.
REASONS = {
    "off": "nobody ran the schedule",
    "interrupted": "it was interrupted, and its time was over",
    "busy": "the visit before it took too long",
    "budget": "not enough of a budget was left",
    "away": "a path or the server was away",
}


@dataclass
class Attempt:
    """A visit that was begun."""

    at_ns: int
    reserved_bytes: dict[str, int]
    carried: dict[str, dict[str, Any]]
    ended_ns: int | None = None
    #: What it took, by path.
    used_bytes: dict[str, int | None] = field(default_factory=dict)


@dataclass
class Entry:
    """The state of a visit."""

    attempts: list[Attempt] = field(default_factory=list)
    done: bool = False
    reason: str | None = None
    why: str | None = None

    @property
    def final(self) -> bool:
        """Whether its outcome is final."""
        return self.done or self.reason is not None

    @property
    def open(self) -> Attempt | None:
        """Give the attempt that is going on, or was interrupted."""
        last = self.attempts[-1] if self.attempts else None
        return last if last is not None and last.ended_ns is None else None


@dataclass
class Ledger:
    """The entries of a ledger."""

    calendars: list[dict[str, Any]] = field(default_factory=list)
    visits: dict[int, Entry] = field(default_factory=dict)
    #: Why each run failed.
    failed: dict[str, str] = field(default_factory=dict)

    def take(self, line: dict[str, Any]) -> None:
        """Add a line."""
        if line["entry"] == "calendar":
            self.calendars.append(line)
            return
        visit = self.visits.setdefault(line["visit"], Entry())
        if line["entry"] == "reserve":
            visit.attempts.append(Attempt(line["at_ns"], line["bytes"], line["carried"]))
        elif line["entry"] == "settle":
            last = visit.attempts[-1]
            last.ended_ns, last.used_bytes = line["at_ns"], line["bytes"]
            visit.done = line["ended"]
            self.failed |= line["failed"]
        else:
            visit.reason, visit.why = line["reason"], line["why"]


def whole(content: bytes) -> bytes:
    """Cut off a last line that was not written to its end."""
    return content[: content.rfind(b"\n") + 1]


def parse(content: bytes, file: Path) -> Ledger:
    """Read the lines of a ledger.

    Raises:
        Error: It is damaged.
    """
    ledger = Ledger()
    for number, line in enumerate(whole(content).splitlines(), 1):
        try:
            ledger.take(json.loads(line))
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise Error(f"{file}:{number}: is not a line of a ledger: {error!r}") from None
    return ledger


def read(directory: Path) -> Ledger | None:
    """Read the ledger of a campaign, also while it is written; ``None`` if it has none."""
    file = directory / LEDGER
    try:
        return parse(file.read_bytes(), file)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Error(f"{file} cannot be read: {error.strerror}") from error


def visits(plan: pl.DataFrame, ledger: Ledger) -> pl.DataFrame:
    """Give a row per planned visit: its outcome, and the reason if it was missed."""
    import polars as pl

    known = plan.select("visit", "due", "hour").unique("visit").sort("due", "visit")
    rows = [_row(ledger.visits.get(number, Entry())) for number in known["visit"]]
    schema = {
        "state": pl.String,
        "reason": pl.String,
        "why": pl.String,
        "attempts": pl.UInt32,
        "begun": pl.Int64,
        "ended": pl.Int64,
    }
    outcomes = pl.DataFrame(rows, schema=schema, orient="row")
    return pl.concat([known, outcomes], how="horizontal").with_columns(_times("begun", "ended"))


def data(ledger: Ledger) -> pl.DataFrame:
    """Give a row per attempt of a visit and path: what was reserved for it, and what it took."""
    import polars as pl

    rows = [
        (number, attempt_number, path, attempt.at_ns, attempt.reserved_bytes.get(path), used)
        for number, visit in sorted(ledger.visits.items())
        for attempt_number, attempt in enumerate(visit.attempts, 1)
        for path, used in _by_path(attempt)
    ]
    schema = {
        "visit": pl.UInt32,
        "attempt": pl.UInt32,
        "path": pl.String,
        "begun": pl.Int64,
        "reserved_bytes": pl.Int64,
        "bytes": pl.Int64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(_times("begun"))


def _by_path(attempt: Attempt) -> Iterable[tuple[str, int | None]]:
    known = dict.fromkeys((*attempt.carried, *attempt.reserved_bytes))
    return [(path, attempt.used_bytes.get(path)) for path in known]


def _row(visit: Entry) -> tuple[Any, ...]:
    state = "done" if visit.done else "missed" if visit.reason else "to come"
    if visit.open is not None:
        state = "going on"
    begun = visit.attempts[0].at_ns if visit.attempts else None
    ended = visit.attempts[-1].ended_ns if visit.attempts else None
    return state, visit.reason, visit.why, len(visit.attempts), begun, ended


def _times(*names: str) -> list[pl.Expr]:
    import polars as pl

    return [(pl.col(name) // 1000).cast(pl.Datetime("us", "UTC")) for name in names]
