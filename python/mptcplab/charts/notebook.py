"""Results as notebooks show them: a verdict, a table and a chart."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mptcplab._core import Error
from mptcplab.analysis import Analysis
from mptcplab.labels import text
from mptcplab.labels.connections import protocol
from mptcplab.labels.findings import MOST, NOTHING, by_cost, described
from mptcplab.metrics import OF_RUNS, heads, of_runs, of_subflows
from mptcplab.results.campaign import Campaign
from mptcplab.results.comparison import Comparison
from mptcplab.results.contributions import contributions
from mptcplab.results.differences.differences import Differences
from mptcplab.results.findings import findings
from mptcplab.results.groups import gain_of, groups
from mptcplab.results.labels import gain, label
from mptcplab.results.run import Run
from mptcplab.results.why import Why

# Configurations that are listed; the page has all.
MOST_ROWS = 40
# Metrics that differ and are listed; the document has all.
MOST_FIGURES = 100
SINGLE = ("run", "connection", "direction", "subflow", "", "A", "B", "B / A - 1")
OVER_SEEDS = ("configuration", "run", "", "A", "B", "pairs", "B / A - 1", "p corrected")
ENDS = ("client", "server")

Draw = Callable[[], Any]


def of(source: Comparison | Campaign | Analysis | Why | Differences) -> str:
    """Give the HTML of one of them."""
    if isinstance(source, Campaign):
        return _campaign(source)
    if isinstance(source, Why):
        return _why(source)
    if isinstance(source, Differences):
        return _differences(source)
    if isinstance(source, Comparison):
        return _comparison(source)
    return _run(source) if isinstance(source, Run) else _analysis(source)


def _comparison(source: Comparison) -> str:
    about = source.mptcp.about
    said = [gain(source)] if source.baselines else []
    if brought := contributions(source):
        said.append(brought)
    rows = by_cost(findings(source))[:MOST]
    return "".join(
        [
            title(f"{about['scenario']}, seed {about['seed']}"),
            sentences([*said, *map(described, rows)]),
            _runs(source.runs),
            _picture(source.plot),
        ]
    )


def _run(source: Run) -> str:
    rows = by_cost(source.tables.rows("findings"))[:MOST]
    about = source.about
    return "".join(
        [
            title(f"{about['scenario']}, {label(source)}, seed {about['seed']}"),
            sentences(described(row) for row in rows),
            _runs([source]),
            _picture(source.plot),
        ]
    )


def _analysis(source: Analysis) -> str:
    rows = by_cost(source.findings.rows(named=True))[:MOST]
    connections = source.connections
    moved = {
        (row["connection"], row["direction"]): row
        for row in source.transfers.iter_rows(named=True)
        if row["bytes"]
    }
    cells = []
    for row in connections.head(MOST_ROWS).iter_rows(named=True):
        number = row["connection"]
        ends = [text.endpoint(row[f"{end}_address"], row[f"{end}_port"]) for end in ENDS]
        cells.append([str(number), " → ".join(ends), protocol(row), str(row["subflows"])])
        for direction in ("down", "up"):
            own = moved.get((number, direction), {})
            cells[-1] += [text.size(own.get("bytes")), text.rate(own.get("throughput_mbps"))]
    more = connections.height - len(cells)
    columns = ["connection", "client → server", "protocol", "subflows"]
    columns += [f"{what} {arrow}" for arrow in "↓↑" for what in ("data", "rate")]
    return "".join(
        [
            sentences(
                [*map(described, rows), *([text.plural(more, "more connection")] if more else [])]
            ),
            table(columns, cells, 3),
            _picture(source.plot),
        ]
    )


def _differences(source: Differences) -> str:
    settings = source.configuration
    said = [
        f"{one.key}: {_setting(one.a)} → {_setting(one.b)}" for one in (settings or [])[:MOST_ROWS]
    ]
    if settings == []:
        said = ["both have the same configuration"]
    head = title(f"A: {source.a.name}, B: {source.b.name}") + sentences(said)
    if source.over_seeds:
        return head + table(OVER_SEEDS, _contrasts(source), 3)
    return head + table(SINGLE, _figures(source), 5)


def _figures(source: Differences) -> list[list[str]]:
    """Give what both sides measured, of what differs, a row per metric."""
    metrics = {one.column: one for one in (*of_subflows("compare"), *of_runs("compare"))}
    return [
        [
            one.run or "",
            " / ".join(dict.fromkeys(map(str, (one.connection_a, one.connection_b)))),
            one.direction,
            one.subflow or "",
            metrics[one.figure].line,
            metrics[one.figure].show(one.a),
            metrics[one.figure].show(one.b),
            _percent(one.relative),
        ]
        for one in source.figures
        if one.figure in metrics and one.a != one.b
    ][:MOST_FIGURES]


def _contrasts(source: Differences) -> list[list[str]]:
    """Give what differs over seeds, a row per configuration, run and metric."""
    return [
        [
            one.configuration,
            one.run,
            OF_RUNS[one.figure].line,
            OF_RUNS[one.figure].show(one.a.estimate),
            OF_RUNS[one.figure].show(one.b.estimate),
            text.count(one.paired.n),
            _percent(one.paired.relative.estimate),
            text.UNKNOWN if one.p_value_corrected is None else f"{one.p_value_corrected:.3f}",
        ]
        for one in source.contrasts
        if one.paired.difference.estimate
    ][:MOST_FIGURES]


def _setting(value: object) -> str:
    return text.UNKNOWN if value is None else str(value)


def _campaign(source: Campaign) -> str:
    done = f"{text.count(source.runs.height)} of {text.plural(source.plan.height, 'run')} are done"
    if not source.runs.height:
        return title(source.name) + sentences([done])
    rows = []
    mptcp = [group for group in groups(source, list(source.axes)) if group.path is None]
    for group in mptcp[:MOST_ROWS]:
        found = gain_of(source, group)
        rows.append(
            [
                *(str(group.axes.get(axis, "")) for axis in source.axes),
                str(int(group.runs["finished"].sum())),
                text.clean(found.best_path or text.UNKNOWN),
                _percent(found.paired.relative.estimate),
                _percent(found.paired.relative.low),
                _percent(found.paired.relative.high),
            ]
        )
    more = len(mptcp) - len(rows)
    columns = [*source.axes, "n", "best path", "gain", "from", "to (95 %)"]
    return "".join(
        [
            title(source.name),
            sentences([done, *([f"{more} more configurations"] if more else [])]),
            table(columns, rows, len(source.axes)),
            _picture(source.plot),
        ]
    )


def _why(source: Why) -> str:
    if not source.rows:
        return sentences([NOTHING])
    rows = [
        [
            described(row),
            text.UNKNOWN if row["cost_s"] is None else text.seconds(row["cost_s"]),
            row["evidence"],
            row["remedy"],
        ]
        for row in by_cost(source.rows)
    ]
    return table(["finding", "cost", "evidence", "remedy"], rows, 4)


def _runs(runs: Sequence[Run]) -> str:
    metrics = of_runs("page")
    rows = [
        [label(run), *(metric.bare(run.metrics.get(metric.column)) for metric in metrics)]
        for run in runs
    ]
    return table(["run", *heads(metrics)], rows, 1)


def title(name: str) -> str:
    """Head what follows."""
    return f"<h4>{html.escape(text.clean(name))}</h4>"


def sentences(said: Iterable[str]) -> str:
    """List sentences."""
    lines = "".join(f"<li>{html.escape(text.clean(one))}</li>" for one in said)
    return f"<ul>{lines}</ul>" if lines else ""


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """Draw a table whose first columns are text."""

    def cells(kind: str, row: Sequence[str]) -> str:
        return "".join(
            f'<{kind} style="text-align:{"left" if number < left else "right"}">'
            f"{html.escape(text.clean(cell))}</{kind}>"
            for number, cell in enumerate(row)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{cells('th', columns)}</tr></thead><tbody>{body}</tbody></table>"


def _picture(draw: Draw) -> str:
    """Draw it if matplotlib is installed and there is something to draw."""
    try:
        drawn = draw()
    except Error:
        return ""
    data = base64.b64encode(drawn._repr_png_()).decode()
    return (
        f'<img alt="{html.escape(drawn.caption)}" src="data:image/png;base64,{data}" width="680">'
    )


def _percent(part: float | None) -> str:
    return text.UNKNOWN if part is None else f"{100 * part:+.0f} %"
