"""Metrics: what runs and subflows are compared by, as the columns of the tables declare them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from mptcplab import _core
from mptcplab.labels import text

Row: TypeAlias = dict[str, Any]

View: TypeAlias = Literal[
    "line", "runs", "page", "compare", "document", "seeds", "campaign", "overview"
]

STATISTIC = re.compile(r"_(mean|median|min|max|p\d+)$")
STATISTICS = {"mean": "mean {}", "median": "median {}", "min": "smallest {}", "max": "largest {}"}
FORMATS = {
    "Mbit/s": text.rate,
    "bytes": text.size,
    "s": text.seconds,
    "ms": text.milliseconds,
    "%": text.percent,
    "packets": text.count,
    "samples": text.count,
    "segments": text.count,
}
# Metrics of users are entry points of this group, and shown where figures of runs are.
GROUP = "mptcplab.metrics"
NEEDED = ("name", "title", "unit", "better", "meaning", "measure")
NAME = re.compile(r"[a-z][a-z0-9_]*")
# Numbers of these stand alone in a column of the terminal, with the unit at its head.
AT_HEAD = ("Mbit/s", "ms")


@dataclass(frozen=True)
class Metric:
    """A column and how it is shown; ``crates/tables/src/metric.rs`` defines the fields."""

    table: str
    column: str
    #: Type of its cells, as the reference of the tables has it.
    kind: str
    unit: str
    meaning: str
    quantity: str
    brief: str
    #: Which values are the better ones: ``more``, ``less`` or ``neither``.
    better: str
    logarithmic: bool
    part: bool
    samples: str
    #: Columns whose sums over the flows of a transfer give it as a metric of a run: part and whole.
    pooled: tuple[str, str] | None
    shown: tuple[str, ...]
    #: How a metric of a user is measured, by the row of the transfer and those of its flows.
    measure: Callable[[Row, list[Row]], float | None] | None = None

    @cached_property
    def statistic(self) -> str:
        """What of many samples it is: ``mean``, ``p95``; empty where it is a single number."""
        found = STATISTIC.search(self.column)
        return found[1] if found else ""

    @property
    def label(self) -> str:
        """Its full name: mean RTT, 95th percentile of RTT."""
        if self.statistic.startswith("p"):
            return f"{self.statistic[1:]}th percentile of {self.quantity}"
        return STATISTICS.get(self.statistic, "{}").format(self.quantity)

    @property
    def axis(self) -> str:
        """Its name along an axis: Transfer time (s)."""
        return capital(f"{self.label} ({self.unit})" if self.unit else self.label)

    @property
    def line(self) -> str:
        """Its name at the beginning of a line: RTT, p95."""
        if self.statistic:
            return f"{self.quantity}, {self.statistic}"
        return self.brief or self.quantity

    @property
    def head(self) -> str:
        """Its name with the unit, for bare numbers: RTT ms."""
        return " ".join(dict.fromkeys(filter(None, (self.brief, self.unit))))

    @property
    def sigma(self) -> str:
        """The column with the standard deviation of the same samples."""
        return self.column.replace("_mean", "_sigma")

    @property
    def columns(self) -> tuple[str, ...]:
        """The column, with those of deviation and number of samples where the table has them."""
        return (self.column, self.sigma, self.samples) if self.samples else (self.column,)

    def over(self, flows: Iterable[dict[str, Any]]) -> float | None:
        """Pool it over the flows of a transfer; those of which it is unknown are left out."""
        if self.pooled is None:
            return None
        part, whole = self.pooled
        known = [flow for flow in flows if None not in (flow[part], flow[whole])]
        total = sum(flow[whole] for flow in known)
        scale = 100 if self.unit == "%" else 1
        return scale * sum(flow[part] for flow in known) / total if total else None

    def of(self, transfer: Row | None, flows: list[Row]) -> float | None:
        """Give its value for a transfer, by its row and those of its flows.

        Raises:
            Error: It is a user's, and fails.
        """
        if self.pooled:
            return self.over(flows)
        if self.measure is None or transfer is None:
            return (transfer or {}).get(self.column)
        try:
            value = self.measure(transfer, flows)
            return None if value is None else float(value)
        except Exception as error:
            raise _core.Error(
                f"the metric {self.column} cannot be measured: {type(error).__name__}: {error}"
            ) from error

    def points(self, difference: float) -> float | None:
        """Give a difference between percentages in points; None where it is no percentage."""
        if self.part:
            return 100 * difference
        return difference if self.unit == "%" else None

    def show(self, value: Any) -> str:
        """Give a value with its unit."""
        if self.part:
            return text.percent(None if value is None else 100 * value)
        return FORMATS.get(self.unit, text.figure)(value)

    def bare(self, value: Any) -> str:
        """Give a value under a head that says the unit where the number does not."""
        return self.show(value) if self.brief else text.figure(value)

    def cells(self, values: list[Any]) -> tuple[str, list[str]]:
        """Give the head of a column on the terminal, and its cells."""
        if self.unit in AT_HEAD:
            return self.head, [text.figure(value) for value in values]
        return self.brief, [self.show(value) for value in values]


def _all() -> tuple[Metric, ...]:
    return tuple(Metric(**{**row, "shown": tuple(row["shown"])}) for row in _core.metrics())


ALL = _all()


@cache
def of_users() -> dict[str, Metric]:
    """Give the metrics of users, which are entry points, by name.

    Raises:
        Error: One cannot be loaded, lacks something, or has a name that is taken.
    """
    found: dict[str, Metric] = {}
    if not _any_installed():
        return found
    # Slow.
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        try:
            given = point.load()
        except Exception as error:
            raise _core.Error(
                f"the metric {point.name} ({point.value}) cannot be loaded: {error}"
            ) from error
        missing = [name for name in NEEDED if not hasattr(given, name)]
        if missing:
            raise _core.Error(
                f"the metric {point.name} ({point.value}) has no {', '.join(missing)}"
            )
        if not NAME.fullmatch(given.name) or given.name in {one.column for one in ALL}:
            raise _core.Error(
                f"the metric {point.name} ({point.value}) cannot be called {given.name!r}: names "
                "are of small letters, digits and _, and none that mptcplab has"
            )
        found[given.name] = _of_user(given)
    return found


def _any_installed() -> bool:
    """Whether a package has entry points of the group, by a quick look at what is installed."""
    for directory in sys.path:
        for points in Path(directory).glob("*.*-info/entry_points.txt"):
            with suppress(OSError):
                if GROUP.encode() in points.read_bytes():
                    return True
    return False


def _of_user(given: Any) -> Metric:
    return Metric(
        table="transfers",
        column=given.name,
        kind="f64",
        unit=given.unit,
        meaning=given.meaning,
        quantity=given.title,
        brief=given.title,
        better=given.better,
        logarithmic=False,
        part=False,
        samples="",
        pooled=None,
        shown=get_args(View),
        measure=given.measure,
    )


class _OfRuns(Mapping[str, Metric]):
    """Our own, and those of users, which are looked for once they are needed."""

    def __init__(self, own: dict[str, Metric]) -> None:
        self.own = own

    def __getitem__(self, name: str) -> Metric:
        return self.own[name] if name in self.own else of_users()[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*self.own, *of_users()))

    def __len__(self) -> int:
        return len(self.own) + len(of_users())


#: Those of runs by their columns: of transfers, those that are pooled over their flows, and users'.
OF_RUNS = _OfRuns({one.column: one for one in ALL if one.table == "transfers" or one.pooled})
#: Those of subflows: of each direction, and of both.
OF_SUBFLOWS = {one.column: one for one in ALL if one.table in ("flows", "subflows")}


def of_runs(view: View) -> list[Metric]:
    """Give the metrics of runs that a view shows."""
    return [one for one in OF_RUNS.values() if view in one.shown]


def of_subflows(view: View, *tables: str) -> list[Metric]:
    """Give the metrics of subflows that a view shows, of some tables only if asked for."""
    shown = [one for one in OF_SUBFLOWS.values() if view in one.shown]
    return [one for one in shown if one.table in tables] if tables else shown


def heads(metrics: Sequence[Metric]) -> list[str]:
    """Name columns beside each other: of several statistics of one quantity the first names it."""
    names: list[str] = []
    quantities = [one.quantity for one in metrics]
    for number, one in enumerate(metrics):
        name = one.brief or one.unit
        if quantities.count(one.quantity) == 1:
            names.append(name)
        elif one.quantity in quantities[:number]:
            names.append(one.statistic)
        else:
            names.append(f"{name} {one.statistic}")
    return names


def capital(text: str) -> str:
    """Begin with a capital, and leave the rest as it is."""
    return text[:1].upper() + text[1:]
