"""What came of a campaign, in a few plain sentences with intervals."""

from __future__ import annotations

from mptcplab.report.campaign.shape import Estimated
from mptcplab.report.campaign.subject import Subject
from mptcplab.words import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Fewer runs than this say little.
FEW = 6


def sentences(
    subject: Subject, gains: list[Estimated], shares: list[Estimated], level: float
) -> list[str]:
    """Say what MPTCP gave over the best single path, where most and least, and who carried it."""
    return [*_gains(subject, gains, level), *_carried(subject, shares), *_reserves(subject)]


def _gains(subject: Subject, gains: list[Estimated], level: float) -> Iterator[str]:
    known = [one for one in gains if one.estimate is not None]
    if not known:
        return
    more = [one for one in known if one.low is not None and one.low > 0]
    less = [one for one in known if one.high is not None and one.high < 0]
    open_ = len(known) - len(more) - len(less)
    if len(known) == 1:
        yield f"MPTCP gives {_gain(known[0], level)} than TCP over {known[0].part}."
        return
    parts = [f"{words} in {len(some)}" for some, words in ((more, "more"), (less, "less")) if some]
    if open_:
        parts.append(f"cannot be told from it in {open_}")
    yield (
        f"Against the best single path MPTCP gives {_listed(parts)} of "
        f"{text.plural(len(known), 'configuration')}."
    )
    best = max(known, key=lambda one: one.estimate or 0.0)
    worst = min(known, key=lambda one: one.estimate or 0.0)
    yield f"Best for {_values(subject, best)}: {_gain(best, level)} than TCP over {best.part}."
    yield f"Worst for {_values(subject, worst)}: {_gain(worst, level)} than TCP over {worst.part}."


def _carried(subject: Subject, shares: list[Estimated]) -> Iterator[str]:
    for path in subject.paths[1:] if len(subject.paths) == 2 else subject.paths:
        own = [one for one in shares if one.part == path and one.estimate is not None]
        if not own:
            continue
        least = min(own, key=lambda one: one.estimate or 0.0)
        most = max(own, key=lambda one: one.estimate or 0.0)
        if _percent(least) == _percent(most):
            yield f"Over {path} came {_percent(least)} of the data."
        else:
            yield (
                f"Over {path} came from {_percent(least)} of the data "
                f"({_values(subject, least)}) to {_percent(most)} ({_values(subject, most)})."
            )


def _reserves(subject: Subject) -> Iterator[str]:
    campaign = subject.campaign
    left = campaign.plan.height - campaign.runs.height - campaign.failures.height
    if left:
        total = text.plural(campaign.plan.height, "run")
        yield f"{text.count(left)} of {total} are still to be done."
    if campaign.failures.height:
        yield f"{text.plural(campaign.failures.height, 'run')} failed: see the list below."
    unfinished = int((~campaign.runs["finished"]).sum())
    if unfinished:
        yield (
            f"In {text.plural(unfinished, 'run')} the transfer did not finish: figures leave "
            "them out."
        )
    if campaign.about["repetitions"] < FEW:
        yield (
            f"With {text.plural(campaign.about['repetitions'], 'repetition')} little can be told "
            "from chance."
        )


def _gain(one: Estimated, level: float) -> str:
    estimate = one.estimate or 0.0
    words = f"{_points(abs(estimate))} % {'more' if estimate >= 0 else 'less'}"
    if one.low is None or one.high is None:
        return words
    ends = f"{_points(one.low, '+')} % to {_points(one.high, '+')} %"
    return f"{words} throughput ({100 * level:.0f} % interval {ends}, n {one.n})"


def _points(part: float, sign: str = "") -> str:
    """Give percent, those below ten with a digit after the point."""
    return f"{100 * part:{sign}.{0 if abs(part) >= 0.0995 else 1}f}"


def _percent(one: Estimated) -> str:
    return f"{100 * (one.estimate or 0.0):.0f} %"


def _values(subject: Subject, one: Estimated) -> str:
    axes = subject.groups[one.group].axes
    return text.clean(", ".join(f"{axis} {value}" for axis, value in axes.items()))


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
