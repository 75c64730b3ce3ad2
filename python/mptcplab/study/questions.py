"""What a finding asks of runs, as its experiment writes it, and the verdict."""

from __future__ import annotations

from itertools import product

from mptcplab import measurements
from mptcplab.study import judging
from mptcplab.study.quantities import Scope, of_runs, unit, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mptcplab.study.judging import Ratio, Values, Verdict
    from mptcplab.study.measured import Measured

    Table = dict[str, Any]

KEYS = ("what", "in", "with", "most", "of", "more_than", "above", "below", "printed")


def judge(measured: Measured, asks: Sequence[Table], each: Table, scope: Scope) -> Verdict:
    """Judge by all that is asked, for each combination of labels."""
    verdicts = []
    for labels in product(*each.values()):
        chosen = scope.narrowed({"with": dict(zip(each, labels, strict=True))})
        verdicts += [_verdict(measured, ask, chosen.narrowed(ask)) for ask in asks]
    return judging.both(*verdicts)


def number(given: float | str) -> float:
    """Give a number, or one that was printed by its name; ``5000 ms`` is 5000."""
    if isinstance(given, str):
        given = str(measurements.printed(given)).partition(" ")[0]
    return float(given)


def beyond(alone: Sequence[str], asks: Sequence[Table]) -> str | None:
    """Say so where a printed size is more than what a paper's single paths carry together.

    Links that show those single paths cannot give it. A ratio is one over the best of them.
    """
    rates = [number(f"{row}:throughput") for row in alone]
    for printed in (ask["printed"] for ask in asks if "printed" in ask):
        size, most = (
            (printed["ratio"], sum(rates) / max(rates))
            if "ratio" in printed
            else (printed["of"], sum(rates))
        )
        if number(size) > most:
            return (
                f"Printed is {number(size):.3g}; the paper's single paths, "
                f"{' and '.join(f'{rate:g}' for rate in rates)} Mbit/s, give {most:.3g} together"
            )
    return None


def _verdict(measured: Measured, ask: Table, scope: Scope) -> Verdict:
    what = ask["what"].format_map(scope.labels)
    if "most" in ask:
        runs: Any = of_runs(measured, ask["most"], scope)
        return judging.in_most(runs, what)
    sizes: Table
    if "more_than" in ask:
        one, other = (of_runs(measured, ask[key], scope) for key in ("of", "more_than"))
        verdict = judging.more(one, other, what, unit(ask["of"]))
        sizes = {"of": one, "other": other, "ratio": (one, other), "inverse": (other, one)}
    else:
        of = values(measured, ask["of"], scope)
        side = "above" if "above" in ask else "below"
        verdict = getattr(judging, side)(of, number(ask[side]), what, unit(ask["of"]))
        sizes = {"of": of}
    if "printed" not in ask:
        return verdict
    return _sized(verdict, sizes, ask["printed"], unit(ask["of"]))


def _sized(verdict: Verdict, sizes: Table, printed: Table, unit_of_it: str) -> Verdict:
    """Ask besides whether one of the sizes is as printed."""
    ((name, value),) = ((key, one) for key, one in printed.items() if key in sizes)
    size: Values | Ratio = sizes[name]
    if isinstance(size, tuple):
        size = judging.Ratio(*size)
    is_ratio = isinstance(size, judging.Ratio)
    what = printed.get("what", "the ratio" if is_ratio else "it has")
    return judging.sized(verdict, size, number(value), what, "" if is_ratio else unit_of_it)
