"""The small tables of a page: subflows, and the runs beside each other."""

from __future__ import annotations

from dataclasses import dataclass

from mptcplab.report.columns import definitions
from mptcplab.report.shape import Table
from mptcplab.report.subject import Subject
from mptcplab.words import text
from mptcplab.words.runs import label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Row = dict[str, Any]


def tables(subject: Subject) -> list[Table]:
    """Give the tables."""
    return [*_runs(subject), _subflows(subject)]


@dataclass
class _Column:
    name: str
    show: Callable[[Row], str]
    #: Table and column that define it.
    meaning: tuple[str, str] | None = None
    numeric: bool = True

    def described(self) -> str | None:
        return None if self.meaning is None else definitions(*self.meaning)[0].meaning


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
        [columns[number].described() for number in some],
    )


def _runs(subject: Subject) -> list[Table]:
    if subject.comparison is None or not subject.comparison.baselines:
        return []
    rows = [
        {
            **(run.transfer or {}),
            "run": label(run),
            "rate": run.throughput_mbps,
            "rtt": run.rtt_ms_mean,
            "loss": run.loss_rate_percent,
            "finished": run.outcome["finished"],
        }
        for run in subject.comparison.runs
    ]
    columns = [
        _Column("run", lambda row: row["run"], numeric=False),
        _Column("Mbit/s", lambda row: text.figure(row["rate"]), ("transfers", "throughput_mbps")),
        _Column("bytes", lambda row: text.size(row.get("bytes")), ("transfers", "bytes")),
        _Column("time", lambda row: text.seconds(row.get("elapsed_s")), ("transfers", "elapsed_s")),
        _Column("RTT", lambda row: text.milliseconds(row["rtt"]), ("transfers", "rtt_ms_mean")),
        _Column("loss", lambda row: text.percent(row["loss"]), ("flows", "loss_rate_percent")),
        _Column(
            "response",
            lambda row: text.milliseconds(row.get("response_time_ms_mean")),
            ("transfers", "response_time_ms_mean"),
        ),
        _Column(
            "CV",
            lambda row: text.figure(row.get("coefficient_of_variation")),
            ("transfers", "coefficient_of_variation"),
        ),
        _Column(
            "longest gap",
            lambda row: text.milliseconds(row.get("longest_gap_ms")),
            ("transfers", "longest_gap_ms"),
        ),
        _Column("", lambda row: "" if row["finished"] else "not finished", numeric=False),
    ]
    return [_table("runs", "MPTCP beside plain TCP over each path", columns, rows)]


def _subflows(subject: Subject) -> Table:
    flows = {flow["subflow"]: flow for flow in subject.flows}
    rows = [{**row, **flows.get(row["subflow"], {})} for row in subject.subflows]
    return _table("subflows", "Subflows", _columns(subject), rows)


def _columns(subject: Subject) -> list[_Column]:
    def flow(name: str, column: str, show: Callable[[Any], str]) -> _Column:
        return _Column(name, lambda row: show(row.get(column)), ("flows", column))

    def own(name: str, column: str, show: Callable[[Any], str], numeric: bool = True) -> _Column:
        return _Column(name, lambda row: show(row[column]), ("subflows", column), numeric)

    return [
        _Column("subflow", lambda row: subject.names[row["subflow"]], numeric=False),
        flow("share", "share", lambda share: text.percent(None if share is None else 100 * share)),
        flow("bytes", "bytes", text.size),
        flow("Mbit/s", "throughput_mbps", text.figure),
        flow("RTT mean", "rtt_ms_mean", text.milliseconds),
        flow("min", "rtt_ms_min", text.milliseconds),
        flow("median", "rtt_ms_median", text.milliseconds),
        flow("p95", "rtt_ms_p95", text.milliseconds),
        flow("p99", "rtt_ms_p99", text.milliseconds),
        flow("samples", "rtt_samples", text.count),
        flow("loss", "loss_rate_percent", text.percent),
        flow("resent", "retransmitted_packets", text.count),
        flow("marked", "marked_packets", text.count),
        flow("reinjected", "reinjected_bytes", text.size),
        flow("one-way", "one_way_delay_ms_median", text.milliseconds),
        own("joined", "join_time_ms", text.milliseconds),
        own("handshake RTT", "handshake_rtt_ms", text.milliseconds),
        own("handshake", "handshake", str, numeric=False),
        own("kind", "kind", str, numeric=False),
        own("backup", "backup", lambda backup: "yes" if backup else "", numeric=False),
        own("ended", "ended", str, numeric=False),
        own("reset", "reset_reason", lambda why: text.clean(why or ""), numeric=False),
        _Column(
            "addresses",
            lambda row: " → ".join(
                text.endpoint(row[f"{end}_address"], row[f"{end}_port"])
                for end in ("client", "server")
            ),
            numeric=False,
        ),
    ]
