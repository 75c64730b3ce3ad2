"""Runs, comparisons and campaigns as notebooks show them: a verdict, a table and a chart."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Iterable, Sequence

from mptcplab._core import Error
from mptcplab.labels import text
from mptcplab.labels.findings import MOST, NOTHING, by_cost, in_words
from mptcplab.metrics import heads, of_runs
from mptcplab.results.campaign import Campaign
from mptcplab.results.comparison import Comparison
from mptcplab.results.contributions import contributions
from mptcplab.results.findings import findings
from mptcplab.results.groups import gain_of, groups
from mptcplab.results.labels import gain, label
from mptcplab.results.run import Run
from mptcplab.results.why import Why

# Configurations that are listed; the page has all.
MOST_ROWS = 40

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Draw = Callable[[], Any]


def of(source: Comparison | Campaign | Run | Why) -> str:
    """Give the HTML of one of them."""
    if isinstance(source, Campaign):
        return _campaign(source)
    if isinstance(source, Why):
        return _why(source)
    return _comparison(source) if isinstance(source, Comparison) else _run(source)


def _comparison(source: Comparison) -> str:
    about = source.mptcp.about
    sentences = [gain(source)] if source.baselines else []
    if brought := contributions(source):
        sentences.append(brought)
    rows = by_cost(findings(source))[:MOST]
    return "".join(
        [
            _title(f"{about['scenario']}, seed {about['seed']}"),
            _sentences([*sentences, *(in_words(row) for row in rows)]),
            _runs(source.runs),
            _picture(source.plot),
        ]
    )


def _run(source: Run) -> str:
    rows = by_cost(source.tables.rows("findings"))[:MOST]
    about = source.about
    return "".join(
        [
            _title(f"{about['scenario']}, {label(source)}, seed {about['seed']}"),
            _sentences(in_words(row) for row in rows),
            _runs([source]),
            _picture(source.plot),
        ]
    )


def _campaign(source: Campaign) -> str:
    done = f"{text.count(source.runs.height)} of {text.plural(source.plan.height, 'run')} are done"
    if not source.runs.height:
        return _title(source.name) + _sentences([done])
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
            _title(source.name),
            _sentences([done, *([f"{more} more configurations"] if more else [])]),
            _table(columns, rows, len(source.axes)),
            _picture(source.plot),
        ]
    )


def _why(source: Why) -> str:
    if not source.rows:
        return _sentences([NOTHING])
    rows = [
        [
            in_words(row),
            text.UNKNOWN if row["cost_s"] is None else text.seconds(row["cost_s"]),
            row["evidence"],
            row["remedy"],
        ]
        for row in by_cost(source.rows)
    ]
    return _table(["finding", "cost", "evidence", "remedy"], rows, 4)


def _runs(runs: Sequence[Run]) -> str:
    metrics = of_runs("page")
    rows = [
        [label(run), *(metric.bare(run.metrics.get(metric.column)) for metric in metrics)]
        for run in runs
    ]
    return _table(["run", *heads(metrics)], rows, 1)


def _title(title: str) -> str:
    return f"<h4>{html.escape(text.clean(title))}</h4>"


def _sentences(sentences: Iterable[str]) -> str:
    lines = "".join(f"<li>{html.escape(text.clean(one))}</li>" for one in sentences)
    return f"<ul>{lines}</ul>" if lines else ""


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
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
