"""The page of one run, or of one connection in captures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mptcplab.charts.columns import definitions
from mptcplab.charts.run import events, verdict
from mptcplab.charts.run.charts import charts
from mptcplab.charts.run.events import found_moments, moments
from mptcplab.charts.run.provenance import provenance
from mptcplab.charts.run.subject import Subject
from mptcplab.charts.run.track import tracks
from mptcplab.charts.shape import Badge, Page, Subflow, Table
from mptcplab.engines import named
from mptcplab.labels import text
from mptcplab.labels.connections import is_mptcp, protocol, single
from mptcplab.labels.findings import described, own_times
from mptcplab.metrics import Metric, heads, of_runs, of_subflows
from mptcplab.metrics import of_users as users
from mptcplab.results import policies
from mptcplab.results.labels import label, unfinished
from mptcplab.results.run import Run

Row = dict[str, Any]


def describe(subject: Subject) -> Page:
    """Describe the page."""
    return Page(
        title=_title(subject),
        name=_name(subject),
        subtitle=_subtitle(subject),
        badges=_badges(subject),
        verdict=verdict.sentences(subject),
        from_s=subject.start_s,
        to_s=subject.end_s,
        captures=subject.captures,
        subflows=[
            Subflow(number, name, subject.looks[number]) for number, name in subject.names.items()
        ],
        tables=tables(subject),
        charts=charts(subject),
        tracks=tracks(subject),
        moments=[*moments(subject), *found_moments(subject)],
        events=events.table(subject),
        provenance=provenance(subject),
    )


def _title(subject: Subject) -> str:
    """Say what it is: the scenario and what it does, or the captures."""
    name = _name(subject)
    if subject.run is None:
        return (
            f"{name} of {text.clean(' and '.join(subject.captures))}" if subject.captures else name
        )
    what = "download" if subject.direction == "down" else "upload"
    over = " and ".join(subject.scenario.get("path", {}))
    return text.clean(f"{name}: {subject.scenario.get('title') or f'{what} over {over}'}")


def _name(subject: Subject) -> str:
    if subject.run is None:
        return f"connection {subject.connection['connection']}"
    name = str(subject.run.about["scenario"])
    return name if subject.comparison else f"{name}, {label(subject.run)}"


def _subtitle(subject: Subject) -> str:
    client, server = (
        text.endpoint(subject.connection[f"{end}_address"], subject.connection[f"{end}_port"])
        for end in ("client", "server")
    )
    return f"{client} → {server}"


def _badges(subject: Subject) -> list[Badge]:
    run, connection = subject.run, subject.connection
    badges = [
        _origin(subject),
        Badge(protocol(connection), "protocol and version in use")
        if is_mptcp(connection)
        else Badge(protocol(connection).removeprefix("plain "), protocol(connection)),
        Badge(
            "download" if subject.direction == "down" else "upload",
            f"the data of this page goes from the {subject.sender} to the other end",
        ),
    ]
    if connection["fallback"] is not None:
        badges.append(Badge("fell back to TCP", text.clean(connection["fallback"])))
    if run is not None:
        badges.append(Badge(text.clean(_policies(subject, run)), "the policies of the endpoints"))
        badges.append(Badge(f"seed {run.about['seed']}", "the random seed of the run"))
        if not run.outcome["finished"]:
            badges.append(Badge("not finished", unfinished(run.outcome)))
    if not subject.analysis.complete:
        badges.append(Badge("cut", "a capture ends in the middle: see the remarks"))
    return badges


def _policies(subject: Subject, run: Run) -> str:
    if subject.comparison is not None:
        return policies.of_comparison(subject.comparison)
    return policies.of_run(run)


def _origin(subject: Subject) -> Badge:
    if subject.run is None:
        tool = subject.connection.get("source")
        if tool is not None:
            return Badge(f"from {text.clean(tool)}", "what a file of this tool tells")
        return Badge("captured", "measured in captures")
    engine = named(subject.run.about["engine"])
    return Badge(engine.made, engine.means)


def tables(subject: Subject) -> list[Table]:
    """Give the tables."""
    return [*_finding_tables(subject), *_run_tables(subject), _subflow_table(subject)]


@dataclass
class _Column:
    name: str
    show: Callable[[Row], str]
    meaning: str | None = None
    numeric: bool = True


def _metrics(shown: list[Metric], row: Callable[[Row, Metric], Row]) -> list[_Column]:
    """Give a column per metric; ``row`` gives the row that has a metric."""

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


def _finding_tables(subject: Subject) -> list[Table]:
    """Give what was found with its evidence and remedy, the costliest first."""
    if not subject.findings:
        return []
    columns = [
        _Column("finding", described, numeric=False),
        _Column("from", lambda row: text.at(row["from_s"])),
        _Column("to", lambda row: text.at(row["to_s"])),
        _Column(
            "confidence",
            lambda row: f"{row['confidence']:.1f}",
            "0.9 where packets show the cause, less where they only rule out others",
        ),
        _Column("evidence", lambda row: text.clean(row["evidence"]), numeric=False),
        _Column("remedy", lambda row: text.clean(row["remedy"]), numeric=False),
    ]
    rows = own_times(subject.findings, [subject.connection])
    return [_table("why", "What held it back", columns, rows)]


def _run_tables(subject: Subject) -> list[Table]:
    if subject.comparison is None or not subject.comparison.baselines:
        return _users_tables(subject)
    rows = [
        {**run.metrics, "run": label(run), "finished": run.outcome["finished"]}
        for run in subject.comparison.runs
    ]
    columns = [
        _Column("run", lambda row: row["run"], numeric=False),
        *_metrics(of_runs("page"), lambda row, _: row),
        _Column("", lambda row: "" if row["finished"] else "not finished", numeric=False),
    ]
    own = subject.comparison.mptcp
    title = f"{label(own)} beside {single(own.about.get('protocol', 'tcp'))} over each path"
    return [_table("runs", title, columns, rows)]


def _users_tables(subject: Subject) -> list[Table]:
    """Give the metrics of users of the one transfer; all others stand in sentences and charts."""
    own = {one.column: one.of(subject.transfer or None, subject.flows) for one in users().values()}
    rows = [{**own, "run": label(subject.run) if subject.run else _name(subject)}]
    columns = [
        _Column("", lambda row: row["run"], numeric=False),
        *_metrics(list(users().values()), lambda row, _: row),
    ]
    return (
        [_table("runs", "Metrics of your own", columns, rows)] if set(own.values()) - {None} else []
    )


def _subflow_table(subject: Subject) -> Table:
    flows = {flow["subflow"]: flow for flow in subject.flows}
    rows = [{"subflows": row, "flows": flows.get(row["subflow"], {})} for row in subject.subflows]
    return _table("subflows", "Subflows", _subflow_columns(subject), rows)


def _subflow_columns(subject: Subject) -> list[_Column]:
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
        own("reset", "reset_reason", lambda remark: text.clean(remark or "")),
        _Column("addresses", ends, numeric=False),
    ]
