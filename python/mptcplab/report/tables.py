"""The small tables of a page: subflows, and the runs beside each other."""

from __future__ import annotations

from dataclasses import dataclass

from mptcplab.labels import text
from mptcplab.metrics import heads, of_runs, of_subflows
from mptcplab.report.columns import definitions
from mptcplab.report.shape import Table
from mptcplab.report.subject import Subject
from mptcplab.results.labels import label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mptcplab.metrics import Metric

    Row = dict[str, Any]


def tables(subject: Subject) -> list[Table]:
    """Give the tables."""
    return [*_runs(subject), _subflows(subject)]


@dataclass
class _Column:
    name: str
    show: Callable[[Row], str]
    meaning: str | None = None
    numeric: bool = True


def _metrics(shown: list[Metric], row: Callable[[Row, Metric], Row]) -> list[_Column]:
    """Give a column per metric; ``row`` says in which of the tables' rows a metric stands."""

    def show(metric: Metric) -> Callable[[Row], str]:
        return lambda given: metric.bare(row(given, metric).get(metric.column))

    return [
        _Column(name, show(one), one.meaning) for name, one in zip(heads(shown), shown, strict=True)
    ]


def _table(name: str, title: str, columns: list[_Column], rows: list[Row]) -> Table:
    cells = [[column.show(row) for column in columns] for row in rows]
    some = [
        number
        for number in range(len(columns))
        if any(row[number] not in ("", text.UNKNOWN) for row in cells)
    ]
    return Table(
        name,
        title,
        [columns[number].name for number in some],
        [columns[number].numeric for number in some],
        [[row[number] for number in some] for row in cells],
        [columns[number].meaning for number in some],
    )


def _runs(subject: Subject) -> list[Table]:
    if subject.comparison is None or not subject.comparison.baselines:
        return []
    rows = [
        {**run.metrics, "run": label(run), "finished": run.outcome["finished"]}
        for run in subject.comparison.runs
    ]
    columns = [
        _Column("run", lambda row: row["run"], numeric=False),
        *_metrics(of_runs("page"), lambda row, _: row),
        _Column("", lambda row: "" if row["finished"] else "not finished", numeric=False),
    ]
    return [_table("runs", "MPTCP beside plain TCP over each path", columns, rows)]


def _subflows(subject: Subject) -> Table:
    flows = {flow["subflow"]: flow for flow in subject.flows}
    rows = [{"subflows": row, "flows": flows.get(row["subflow"], {})} for row in subject.subflows]
    return _table("subflows", "Subflows", _columns(subject), rows)


def _columns(subject: Subject) -> list[_Column]:
    def own(name: str, column: str, show: Callable[[Any], str] = str) -> _Column:
        (definition,) = definitions("subflows", column)
        return _Column(
            name, lambda row: show(row["subflows"][column]), definition.meaning, numeric=False
        )

    def ends(row: Row) -> str:
        own = row["subflows"]
        return " → ".join(
            text.endpoint(own[f"{end}_address"], own[f"{end}_port"]) for end in ("client", "server")
        )

    return [
        _Column("subflow", lambda row: subject.names[row["subflows"]["subflow"]], numeric=False),
        *_metrics(of_subflows("page"), lambda row, metric: row[metric.table]),
        own("handshake", "handshake"),
        own("kind", "kind"),
        own("backup", "backup", lambda backup: "yes" if backup else ""),
        own("ended", "ended"),
        own("reset", "reset_reason", lambda why: text.clean(why or "")),
        _Column("addresses", ends, numeric=False),
    ]
