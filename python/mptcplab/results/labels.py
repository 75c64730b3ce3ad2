"""Names of runs and of what ran them, and how runs compare, in a line."""

from __future__ import annotations

import re
from typing import Any

from mptcplab.engines import named
from mptcplab.labels import quality, text
from mptcplab.labels.connections import candidate
from mptcplab.results.comparison import Comparison
from mptcplab.results.run import Run
from mptcplab.results.serving import Served, served
from mptcplab.results.statistics import Gain

RESPONSE = "response_time_ms_mean"
# What prints as 0 %.
SAME = 0.005


def label(run: Run) -> str:
    """Name a run."""
    path = run.about["path"]
    protocol = run.about.get("protocol", "tcp")
    if path is not None or run.about["mptcp"]:
        return candidate(protocol, path)
    if protocol == "tcp":
        return "plain TCP"
    return candidate(protocol, None) if run.scenario["mptcp"]["enabled"] else "QUIC"


def engine(about: dict[str, Any]) -> str:
    """Name what ran it, by the stored description of a run or a campaign."""
    return text.clean(named(about["engine"]).ran(about))


def gain(comparison: Comparison) -> str:
    """Describe the gain of MPTCP over the best single path, in the measure of the application."""
    if (found := served(comparison)) is not None:
        return _served(found, label(comparison.mptcp))
    if (asked := _asked(comparison)) is not None:
        return asked
    if comparison.best_path is None:
        return "no single path finished the transfer"
    best = comparison.baselines[comparison.best_path]
    summary = f"best single path: {comparison.best_path} with {text.rate(best.throughput_mbps)}"
    if comparison.gain is None:
        return summary
    own = label(comparison.mptcp)
    if abs(comparison.gain) < SAME:
        return f"{summary}; {own} gives as much"
    more = "more" if comparison.gain > 0 else "less"
    return f"{summary}; {own} gives {abs(comparison.gain):.0%} {more}".replace("%", " %")


def _asked(comparison: Comparison) -> str | None:
    """Compare the times of responses, where there are any: who waits for them sends no faster."""
    times = {path: run.metrics[RESPONSE] for path, run in comparison.baselines.items()}
    known = {path: time for path, time in times.items() if time is not None}
    own = comparison.mptcp.metrics[RESPONSE]
    if own is None or not known:
        return None
    best = min(known, key=lambda path: known[path])
    more = own / known[best] - 1
    summary = (
        f"best single path: {best} with responses in {text.milliseconds(known[best])} on average"
    )
    name = label(comparison.mptcp)
    if abs(more) < SAME:
        return f"{summary}; {name} takes as long"
    longer = "longer" if more > 0 else "less"
    took = f"{text.milliseconds(own)}, {abs(more):.0%} {longer}".replace("%", " %")
    return f"{summary}; {name} takes {took}"


def _served(found: Served, own: str) -> str:
    verdict = "worse" if found.is_worse else "better" if found.is_better else "as good"
    return (
        f"best single path: {found.path} with {quality.measure(found.alone)}; {own} has "
        f"{quality.measure(found.own)}, which is {verdict}"
    )


def too_few(
    repetitions: int, level: float, comparisons: int = 1, noun: str = "configuration"
) -> str | None:
    """Say where repetitions are so few that a difference could not be significant.

    Of several comparisons, which are corrected together, a single one that differs needs more.
    """
    from mptcplab.results.statistics import pairs_needed

    needed, alone = pairs_needed(level), pairs_needed(level, comparisons)
    if repetitions >= alone:
        return None
    are = "is" if repetitions == 1 else "are"
    few = f"{text.plural(repetitions, 'repetition')} {are} too few to rule out chance"
    chance = f"for p < {round(1 - level, 6):g}"
    where = f"where one of {text.plural(comparisons, noun)} alone differs"
    if repetitions >= needed:
        return f"{few} {where}: at least {alone} are needed {chance}"
    more = f", {alone} {where}" if alone > needed else ""
    return f"{few}: at least {needed} are needed {chance}{more}"


def unfinished(outcome: dict[str, Any]) -> str:
    """Say why a transfer did not finish, with bytes in units."""
    reason: str = outcome["reason"]
    return re.sub(r"\b(\d{4,}) bytes\b", lambda bytes_: text.size(int(bytes_[1])), reason)


def finished(found: Gain) -> str:
    """Say how often MPTCP finished, and plain TCP over the best single path."""
    own = f"MPTCP finished {found.multipath.finished} of {found.multipath.runs}"
    if found.best_path is None:
        return f"{own} where no single path finished"
    single = found.single_path
    path = text.clean(found.best_path)
    return f"{own} where TCP over {path} finished {single.finished} of {single.runs}"
