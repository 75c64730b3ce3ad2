"""Two measurements side by side, one of each or runs under several seeds."""

from __future__ import annotations

import math
from itertools import groupby

from mptcplab.cli.summary.page import Column, Page, draw, on_stdout
from mptcplab.labels import text
from mptcplab.labels.findings import called
from mptcplab.metrics import OF_RUNS, Metric, of_runs, of_subflows
from mptcplab.results.differences.configuration import Setting, Value
from mptcplab.results.differences.contrasts import Contrast
from mptcplab.results.differences.differences import Differences, Found, Side
from mptcplab.results.differences.figures import Figure
from mptcplab.results.labels import engine, finished, too_few
from mptcplab.results.statistics import Estimate, Gain

Known = dict[str, float | None]


ARROWS = {"up": "↑", "down": "↓"}
# A direction with less than this part of the other gets no table.
ASIDE = 0.01
# Settings that are shown; more are a machine's.
MOST_SETTINGS = 40
# The connection as a whole, and a subflow that is the same.
WITH_ONE_SUBFLOW = 2


def print_differences(differences: Differences) -> None:
    """Print the configuration, then the figures."""
    page = on_stdout()
    for name, side in (("A", differences.a), ("B", differences.b)):
        page.facts(_facts(side), indent="", first=f"{page.style(name, 'strong')}  ")
    page.line()
    _print_configuration(page, differences)
    _print_findings(page, differences)
    if differences.over_seeds:
        print_contrasts(page, differences)
        return
    for (run, _, _), own in groupby(differences.figures, key=_connections):
        figures = list(own)
        for direction in _directions(figures):
            _print_figures(page, run, [one for one in figures if one.direction == direction])
    if not differences.figures:
        page.paragraph("no connection moved data on either side", first="! ", style="warning")
    else:
        page.line()
        page.paragraph(
            "one measurement on each side does not show what is chance; mptcplab run --repeat on "
            "both sides does",
            first="– ",
            style="faint",
        )


def _print_findings(page: Page, differences: Differences) -> None:
    """Print which findings came, went, or stayed."""
    for kind, a, b in differences.findings:
        parts = [f"{name} {_found(one) if one else 'none'}" for name, one in (("A", a), ("B", b))]
        page.paragraph(f"{called(kind)}: {', '.join(parts)}", first="why ")


def _found(found: Found) -> str:
    cost = "" if found.cost_s is None else f"{text.seconds(found.cost_s)} lost"
    count = "" if found.of == 1 else f"{found.runs} of {found.of} runs"
    return ", ".join(part for part in (count, cost) if part) or "found"


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
        page.paragraph("captures do not say how they were configured", first="– ", style="faint")
    elif not settings:
        page.paragraph("both have the same configuration")
    else:
        shown = settings[:MOST_SETTINGS]
        draw(
            page,
            [
                Column("configuration", [_key(one) for one in shown], left=True),
                Column("A", [_value(one.a) for one in shown], left=True),
                Column("B", [_value(one.b) for one in shown], left=True),
            ],
        )
        if len(settings) > MOST_SETTINGS:
            more = f"… and {len(settings) - MOST_SETTINGS} more; --json lists all"
            page.paragraph(more, style="faint")


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
        known_rows = [row for row in rows if row is not None]
        lines += [
            (subflow or "" if number == 0 else "", *row) for number, row in enumerate(known_rows)
        ]
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
    return "" if figure.relative is None else _percent_change(figure.relative)


def _shown(metric: Metric, known: Known) -> str:
    """Give a value; a mean with its deviation and the number of samples."""
    value = known[metric.column]
    if value is None or not metric.samples:
        return metric.show(value)
    samples = known[metric.samples]
    n = text.count(None if samples is None else int(samples))
    return f"{text.spread(value, known[metric.sigma])} {metric.unit}, n {n}"


# Lines that are shown.
MOST = 100


def print_contrasts(page: Page, differences: Differences) -> None:
    """Print a line per configuration, run and figure that differs, then the gains."""
    known = [one for one in differences.contrasts if one.a.n or one.b.n]
    differing = [one for one in known if one.paired.difference.estimate != 0]
    page.line()
    if not known:
        page.paragraph("the two have no run in common", first="! ", style="warning")
        return
    if differing:
        draw(
            page, _contrast_columns(differing[:MOST], f"{differences.level:.0%}".replace("%", " %"))
        )
    if len(differing) > MOST:
        page.paragraph(f"… and {len(differing) - MOST} more; --json lists all", style="faint")
    if len(differing) < len(known):
        alike = text.plural(len(known) - len(differing), "figure")
        page.paragraph(f"the same on both sides, pair by pair: {alike}; --json lists all")
    _print_gains(page, differences)
    _print_partners(page, differences)
    _print_few(page, known, differences.level)
    _print_notes(page, differing)


def _contrast_columns(shown: list[Contrast], level: str) -> list[Column]:
    configurations = [one.configuration for one in shown]
    return [
        *([Column("configuration", configurations, left=True)] if any(configurations) else []),
        Column("run", [text.clean(one.run) for one in shown], left=True),
        Column("", [_named(OF_RUNS[one.figure]) for one in shown], left=True),
        Column("A, mean ± σ", [_mean(one.a, one.sigma_a) for one in shown]),
        Column("B, mean ± σ", [_mean(one.b, one.sigma_b) for one in shown]),
        Column("pairs", [text.count(one.paired.n) for one in shown]),
        Column(f"B - A [{level}]", [_estimate(one.paired.difference) for one in shown]),
        Column(
            "B / A - 1", [_percent_change(one.paired.relative.estimate) for one in shown], keep=4
        ),
        Column("effect", [_number(one.paired.rank_biserial) for one in shown], keep=2),
        Column("p", [_p_value(one.paired.p_value) for one in shown], keep=1),
        Column("p corrected", [_p_value(one.p_value_corrected) for one in shown], keep=3),
    ]


def _named(metric: Metric) -> str:
    """Name it with its unit: RTT ms, mean."""
    return ", ".join(filter(None, (metric.head, metric.statistic)))


def _percent_change(value: float | None) -> str:
    """Give how much more something is, in percent."""
    if value is None:
        return text.UNKNOWN
    return f"{value:+.1%}".replace("%", " %") if abs(value) >= 0.0005 else "0 %"


def _print_gains(page: Page, differences: Differences) -> None:
    for one in differences.gains:
        prefix = f"{one.configuration}: " if one.configuration else ""
        sides = [f"{name} {_gain(gain)}" for name, gain in (("A", one.a), ("B", one.b)) if gain]
        page.paragraph(f"{prefix}gain over the best single path: {'; '.join(sides)}")


def _print_partners(page: Page, differences: Differences) -> None:
    """Say which seeds make no pairs, as the other side lacks them."""
    a, b = (set(side.seeds) for side in (differences.a, differences.b))
    unpaired = [(name, len(one - other)) for name, one, other in (("A", a, b), ("B", b, a))]
    described = [f"{text.plural(count, 'seed')} of {name}" for name, count in unpaired if count]
    if not described:
        return
    if not a & b:
        page.paragraph("A and B have no seed in common: no pairs", first="! ", style="warning")
        return
    without = "has" if sum(count for _, count in unpaired) == 1 else "have"
    page.paragraph(
        f"pairs: the {text.plural(len(a & b), 'seed')} of both sides; "
        f"{' and '.join(described)} {without} no partner",
        first="– ",
        style="faint",
    )


def _print_few(page: Page, known: list[Contrast], level: float) -> None:
    """Say where no figure is significant, and so few pairs could not show that of one alone."""
    tested = {
        (one.run, one.figure, one.a, one.b, one.paired): one.p_value_corrected
        for one in known
        if one.p_value_corrected is not None
    }
    most = max((one.paired.n for one in known if one.paired.difference.estimate), default=0)
    few = too_few(most, level, max(len(tested), 1), "figure")
    if most and few is not None and not any(p < 1 - level for p in tested.values()):
        page.paragraph(few, first="– ", style="faint")


def _print_notes(page: Page, shown: list[Contrast]) -> None:
    reasons = dict.fromkeys(
        one.paired.difference.reason for one in shown if one.paired.difference.reason
    )
    for reason in reasons:
        page.paragraph(f"no interval: {reason}", first="– ", style="faint")
    if any({one.a.n, one.b.n} != {one.paired.n} for one in shown):
        page.paragraph(
            "A and B are means over all runs of a side; B - A, B / A - 1, effect and p are over "
            "the pairs alone",
            first="– ",
            style="faint",
        )
    missing = sum(one.a.missing + one.b.missing for one in shown)
    if missing:
        page.paragraph(
            f"{text.count(missing)} values are missing: runs that did not finish, or unknown",
            first="– ",
            style="faint",
        )


def _mean(mean: Estimate, sigma: float | None) -> str:
    return text.spread(mean.estimate, sigma)


def _estimate(estimate: Estimate) -> str:
    """Give all in the digits that the largest needs for three of them."""
    known = [one for one in (estimate.estimate, estimate.low, estimate.high) if one is not None]
    if not known:
        return text.UNKNOWN
    largest = max(map(abs, known))
    digits = min(max(2 - math.floor(math.log10(largest)), 0), 6) if largest else 0
    first, *ends = (f"{one:.{digits}f}" for one in known)
    return f"{first} [{', '.join(ends)}]" if ends else first


def _gain(gain: Gain) -> str:
    if not gain.all_finished:
        return f"unknown: {finished(gain)}"
    if gain.best_path is None:
        return "unknown: no single path was run"
    found = gain.paired.relative
    shown = f"{_percent_change(found.estimate)} over {text.clean(gain.best_path)}"
    if found.low is None:
        return f"{shown}, n {gain.paired.n}"
    return (
        f"{shown} [{_percent_change(found.low)}, {_percent_change(found.high)}], n {gain.paired.n}"
    )


def _number(value: float | None) -> str:
    return text.UNKNOWN if value is None else f"{value:+.2f}"


def _p_value(value: float | None) -> str:
    if value is None:
        return text.UNKNOWN
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}" if value < 0.01 else f"{value:.3f}"
