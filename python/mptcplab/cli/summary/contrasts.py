"""Runs under several seeds side by side: means, paired differences, intervals."""

from __future__ import annotations

import math

from mptcplab.cli.summary.page import Column, Page, draw
from mptcplab.labels import text
from mptcplab.metrics import OF_RUNS
from mptcplab.results.labels import finished, too_few

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.metrics import Metric
    from mptcplab.results.differences.contrasts import Contrast
    from mptcplab.results.differences.differences import Differences
    from mptcplab.results.statistics import Estimate, Gain

# Lines that are shown.
MOST = 100


def print_contrasts(page: Page, differences: Differences) -> None:
    """Print a line per configuration, run and figure that differs, then the gains."""
    known = [one for one in differences.contrasts if one.a.n or one.b.n]
    differing = [one for one in known if one.paired.difference.estimate != 0]
    page.line()
    if not known:
        page.words("the two have no run in common", first="! ", style="warning")
        return
    if differing:
        draw(page, _columns(differing[:MOST], f"{differences.level:.0%}".replace("%", " %")))
    if len(differing) > MOST:
        page.words(f"… and {len(differing) - MOST} more; --json lists all", style="faint")
    if len(differing) < len(known):
        alike = text.plural(len(known) - len(differing), "figure")
        page.words(f"the same on both sides, pair by pair: {alike}; --json lists all")
    _print_gains(page, differences)
    _print_partners(page, differences)
    _print_notes(page, differing, differences.level)


def _columns(shown: list[Contrast], level: str) -> list[Column]:
    configurations = [one.configuration for one in shown]
    return [
        *([Column("configuration", configurations, left=True)] if any(configurations) else []),
        Column("run", [text.clean(one.run) for one in shown], left=True),
        Column("", [_named(OF_RUNS[one.figure]) for one in shown], left=True),
        Column("A, mean ± σ", [_mean(one.a, one.sigma_a) for one in shown]),
        Column("B, mean ± σ", [_mean(one.b, one.sigma_b) for one in shown]),
        Column("pairs", [text.count(one.paired.n) for one in shown]),
        Column(f"B - A [{level}]", [_estimate(one.paired.difference) for one in shown]),
        Column("B / A - 1", [change(one.paired.relative.estimate) for one in shown], keep=4),
        Column("effect", [_number(one.paired.rank_biserial) for one in shown], keep=2),
        Column("p", [_p_value(one.paired.p_value) for one in shown], keep=1),
        Column("p corrected", [_p_value(one.p_value_corrected) for one in shown], keep=3),
    ]


def _named(metric: Metric) -> str:
    """Name it with its unit: RTT ms, mean."""
    return ", ".join(filter(None, (metric.head, metric.statistic)))


def change(value: float | None) -> str:
    """Give how much more something is, in percent."""
    if value is None:
        return text.UNKNOWN
    return f"{value:+.1%}".replace("%", " %") if abs(value) >= 0.0005 else "0 %"


def _print_gains(page: Page, differences: Differences) -> None:
    for one in differences.gains:
        place = f"{one.configuration}: " if one.configuration else ""
        sides = [f"{name} {_gain(gain)}" for name, gain in (("A", one.a), ("B", one.b)) if gain]
        page.words(f"{place}gain over the best single path: {'; '.join(sides)}")


def _print_partners(page: Page, differences: Differences) -> None:
    """Say which seeds make no pairs, as the other side lacks them."""
    a, b = (set(side.seeds) for side in (differences.a, differences.b))
    lone = [(name, len(one - other)) for name, one, other in (("A", a, b), ("B", b, a))]
    told = [f"{text.plural(count, 'seed')} of {name}" for name, count in lone if count]
    if not told:
        return
    if not a & b:
        page.words("A and B have no seed in common: no pairs", first="! ", style="warning")
        return
    without = "has" if sum(count for _, count in lone) == 1 else "have"
    page.words(
        f"pairs: the {text.plural(len(a & b), 'seed')} of both sides; "
        f"{' and '.join(told)} {without} no partner",
        first="– ",
        style="faint",
    )


def _print_notes(page: Page, shown: list[Contrast], level: float) -> None:
    most = max((one.paired.n for one in shown), default=0)
    if most and (words := too_few(most, level)) is not None:
        page.words(words, first="– ", style="faint")
    reasons = dict.fromkeys(
        one.paired.difference.reason for one in shown if one.paired.difference.reason
    )
    for reason in reasons:
        page.words(f"no interval: {reason}", first="– ", style="faint")
    if any({one.a.n, one.b.n} != {one.paired.n} for one in shown):
        page.words(
            "A and B are means over all runs of a side; B - A, B / A - 1, effect and p are over "
            "the pairs alone",
            first="– ",
            style="faint",
        )
    missing = sum(one.a.missing + one.b.missing for one in shown)
    if missing:
        page.words(
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
    shown = f"{change(found.estimate)} over {text.clean(gain.best_path)}"
    if found.low is None:
        return f"{shown}, n {gain.paired.n}"
    return f"{shown} [{change(found.low)}, {change(found.high)}], n {gain.paired.n}"


def _number(value: float | None) -> str:
    return text.UNKNOWN if value is None else f"{value:+.2f}"


def _p_value(value: float | None) -> str:
    if value is None:
        return text.UNKNOWN
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}" if value < 0.01 else f"{value:.3f}"
