"""Two measurements side by side."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from itertools import groupby

from mptcplab.cli.summary.contrasts import change, print_contrasts
from mptcplab.cli.summary.page import Column, Page, draw
from mptcplab.labels import text
from mptcplab.metrics import of_runs, of_subflows
from mptcplab.results.labels import engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.metrics import Metric
    from mptcplab.results.differences.configuration import Setting, Value
    from mptcplab.results.differences.differences import Differences, Side
    from mptcplab.results.differences.figures import Figure

    Known = dict[str, float | None]

ARROWS = {"up": "↑", "down": "↓"}
# A direction with less than this part of the other gets no table.
ASIDE = 0.01
# Settings that are shown; more are a machine's.
MOST = 40
# The connection as a whole, and a subflow that is the same.
WITH_ONE_SUBFLOW = 2


def print_differences(differences: Differences, *, page: Page | None = None) -> None:
    """Print the configuration, then the figures."""
    if page is None and isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    page = page or Page()
    for name, side in (("A", differences.a), ("B", differences.b)):
        page.facts(_facts(side), indent="", first=f"{page.style(name, 'strong')}  ")
    page.line()
    _print_configuration(page, differences)
    if differences.over_seeds:
        print_contrasts(page, differences)
        return
    for (run, _, _), own in groupby(differences.figures, key=_connections):
        figures = list(own)
        for direction in _directions(figures):
            _print_figures(page, run, [one for one in figures if one.direction == direction])
    if not differences.figures:
        page.words("no connection moved data on either side", first="! ", style="warning")
    else:
        page.line()
        page.words(
            "one measurement a side: what of this is chance cannot be told; mptcplab run --repeat "
            "on both sides tells",
            first="– ",
            style="faint",
        )


def _facts(side: Side) -> list[str]:
    """Say what a side is."""
    if not side.about:
        return [text.clean(side.name), "captures"]
    facts = [text.clean(side.name), text.clean(side.about["scenario"])]
    if side.kind == "run":
        facts.append(text.clean(side.about["run"]))
    if side.campaign is not None:
        facts.append(text.plural(len(side.campaign.runs), "run"))
    facts.append(engine(side.about))
    if (policies := side.about.get("policies")) and policies["in_words"]:
        facts.append(text.clean(policies["in_words"]))
    seeds = side.seeds
    return [*facts, f"seed {seeds[0]}" if len(seeds) == 1 else text.plural(len(seeds), "seed")]


def _print_configuration(page: Page, differences: Differences) -> None:
    settings = differences.configuration
    if settings is None:
        page.words("captures do not tell how they were configured", first="– ", style="faint")
    elif not settings:
        page.words("both have the same configuration")
    else:
        shown = settings[:MOST]
        draw(
            page,
            [
                Column("configuration", [_key(one) for one in shown], left=True),
                Column("A", [_value(one.a) for one in shown], left=True),
                Column("B", [_value(one.b) for one in shown], left=True),
            ],
        )
        if len(settings) > MOST:
            more = f"… and {len(settings) - MOST} more; --json lists all"
            page.words(more, style="faint")


def _key(setting: Setting) -> str:
    return text.clean(setting.key)


def _value(value: Value) -> str:
    if value is None:
        return text.UNKNOWN
    return text.clean(str(value).lower() if isinstance(value, bool) else str(value))


def _connections(figure: Figure) -> tuple[str | None, int, int]:
    return figure.run, figure.connection_a, figure.connection_b


def _directions(figures: list[Figure]) -> list[str]:
    """The directions that are worth a table, the larger one first."""
    moved = {
        one.direction: max(one.a or 0, one.b or 0)
        for one in figures
        if one.figure == "bytes" and one.subflow is None
    }
    larger = max(moved.values())
    worth = [direction for direction in moved if moved[direction] >= ASIDE * larger]
    return sorted(worth, key=lambda direction: -moved[direction])


def _print_figures(page: Page, run: str | None, figures: list[Figure]) -> None:
    first = figures[0]
    numbers = dict.fromkeys((first.connection_a, first.connection_b))
    connection = f"connection {' / '.join(map(str, numbers))}"
    page.line()
    page.facts(
        [
            *([page.style(text.clean(run), "strong")] if run else []),
            connection,
            f"{ARROWS[first.direction]} {first.direction}",
        ],
        indent="",
    )
    lines: list[tuple[str, str, str, str, str]] = []
    if len({figure.subflow for figure in figures}) == WITH_ONE_SUBFLOW:
        figures = [figure for figure in figures if figure.subflow is None]
    for subflow, own in groupby(figures, key=lambda figure: figure.subflow):
        known = {figure.figure: figure for figure in own}
        metrics = of_runs("compare") if subflow is None else of_subflows("compare")
        rows = [_line(known, metric) for metric in metrics]
        told = [row for row in rows if row is not None]
        lines += [(subflow or "" if number == 0 else "", *row) for number, row in enumerate(told)]
    subflows, names, a, b, changes = zip(*lines, strict=True)
    draw(
        page,
        [
            *([Column("subflow", subflows, left=True)] if any(subflows) else []),
            Column("", names, left=True),
            Column("A", a),
            Column("B", b),
            Column("B against A", changes),
        ],
    )


def _line(known: dict[str, Figure], metric: Metric) -> tuple[str, str, str, str] | None:
    """Give the cells of a metric; nothing where neither side knows it."""
    one = known[metric.column]
    if one.a is None and one.b is None:
        return None
    name = f"{metric.line} ± σ" if metric.samples else metric.line
    a = _shown(metric, {key: value.a for key, value in known.items()})
    b = _shown(metric, {key: value.b for key, value in known.items()})
    return name, a, b, _change(metric, one)


def _change(metric: Metric, figure: Figure) -> str:
    if figure.difference is None:
        return ""
    if not figure.difference:
        return "same"
    if (points := metric.points(figure.difference)) is not None:
        return f"{points:+.2f} points"
    return "" if figure.relative is None else change(figure.relative)


def _shown(metric: Metric, known: Known) -> str:
    """Give a value; a mean with its deviation and the number of samples."""
    value = known[metric.column]
    if value is None or not metric.samples:
        return metric.show(value)
    samples = known[metric.samples]
    n = text.count(None if samples is None else int(samples))
    return f"{text.spread(value, known[metric.sigma])} {metric.unit}, n {n}"
