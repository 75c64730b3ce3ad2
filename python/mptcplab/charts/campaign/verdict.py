"""The outcome of a campaign, in a few plain sentences with intervals."""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.charts.campaign.shape import Estimated
from mptcplab.charts.campaign.subject import Subject
from mptcplab.labels import text
from mptcplab.labels.connections import candidate
from mptcplab.results.campaign import Campaign
from mptcplab.results.labels import finished, too_few

# The most configurations without a gain that are named.
MOST_UNFINISHED = 5


def sentences(
    subject: Subject, gains: list[Estimated], shares: list[Estimated], level: float
) -> list[str]:
    """Say what MPTCP gained over the best single path, where most and least, and by which paths."""
    lines = [
        *_gains(subject, gains, level),
        *_unfinished(subject),
        *_carried(subject, shares),
        *_reserves(subject),
    ]
    compared = sum(one.estimate is not None for one in gains)
    few = too_few(subject.campaign.about["repetitions"], level)
    if few is not None and compared < 2:
        lines.append(f"{few}.")
    return lines


def _gains(subject: Subject, gains: list[Estimated], level: float) -> Iterator[str]:
    known = [one for one in gains if one.estimate is not None]
    if not known:
        return
    if len(known) == 1:
        which = f" for {_values(subject, known[0])}" if len(subject.gains) > 1 else ""
        own, single = _names(subject, known[0])
        yield f"{own} gives {_gain(known[0], level)} than {single}{which}."
        return
    yield _counted(known, level, _noun(subject), _own(subject))
    best = max(known, key=lambda one: one.estimate or 0.0)
    worst = min(known, key=lambda one: one.estimate or 0.0)
    for which, one in (("Best", best), ("Worst", worst)):
        _, single = _names(subject, one)
        yield f"{which} for {_values(subject, one)}: {_gain(one, level)} than {single}."


def _names(subject: Subject, one: Estimated) -> tuple[str, str]:
    """Name what ran over several paths, and over the single path that it is compared with."""
    protocol = subject.groups[one.group].protocol
    return candidate(protocol, None), candidate(protocol, one.part)


def _noun(subject: Subject) -> str:
    """Name what differs: a configuration, or the hour of the day alone."""
    return "hour" if list(subject.campaign.axes) == ["hour"] else "configuration"


def _own(subject: Subject) -> str:
    """Name what ran over several paths in all configurations."""
    protocol = subject.campaign.protocol()
    return candidate(protocol, None) if protocol else "what runs over several paths"


def _counted(known: list[Estimated], level: float, noun: str, own: str) -> str:
    """Say in how many configurations ``own`` differs from the best single path."""
    chance = round(1 - level, 6)
    significant = [one for one in known if one.p_value is not None and one.p_value < chance]
    more = sum((one.effect or 0.0) > 0 for one in significant)
    less = len(significant) - more
    every = text.plural(len(known), noun)
    pairs = max(one.n for one in known)
    if not significant and (few := too_few(pairs, level, len(known), noun)) is not None:
        return (
            f"Whether {own} differs from the best single path cannot be judged in any of "
            f"{every}: {few}."
        )
    if not significant:
        reason = f"p ≥ {chance:g}, corrected for all of them"
        if any(_leaves_out_0(one) for one in known):
            reason += "; the intervals below are of one alone"
        return (
            f"No significant difference from the best single path in any of {every} "
            f"(n = {pairs}; {reason})."
        )
    same = len(known) - len(significant)
    rest = f"; no significant difference in {same}" if same else ""
    return (
        f"{own} has significantly {'more' if more else 'less'} throughput than the best single "
        f"path in {more or less} of {every}{f' and less in {less}' if more and less else ''} "
        f"(corrected p < {chance:g}){rest}."
    )


def _unfinished(subject: Subject) -> Iterator[str]:
    """Say where the gain is unknown since some runs did not finish."""
    concerned = {number: gain for number, gain in subject.gains.items() if not gain.all_finished}
    for number, gain in list(concerned.items())[:MOST_UNFINISHED]:
        which = _named(subject, number)
        yield f"No gain is known{f' for {which}' if which else ''}: {finished(gain)}."
    more = len(concerned) - MOST_UNFINISHED
    if more > 0:
        yield f"The same goes for {text.plural(more, _noun(subject))} more."


def _carried(subject: Subject, shares: list[Estimated]) -> Iterator[str]:
    for path in subject.paths[1:] if len(subject.paths) == 2 else subject.paths:
        own = [one for one in shares if one.part == path and one.estimate is not None]
        if not own:
            continue
        least = min(own, key=lambda one: one.estimate or 0.0)
        most = max(own, key=lambda one: one.estimate or 0.0)
        if _percent(least) == _percent(most):
            yield f"{path} carried {_percent(least)} of the data."
        else:
            yield (
                f"{path} carried between {_percent(least)} ({_values(subject, least)}) and "
                f"{_percent(most)} ({_values(subject, most)}) of the data."
            )


def _missed(campaign: Campaign) -> int:
    """Count the runs of missed visits; some runs of an interrupted visit may be done."""
    if campaign.about.get("calendar") is None:
        return 0
    gone = campaign.visits.filter(state="missed")
    return (
        campaign.plan.join(gone, on="visit", how="semi")
        .join(campaign.runs, on="run", how="anti")
        .height
    )


def _reserves(subject: Subject) -> Iterator[str]:
    campaign = subject.campaign
    left = campaign.plan.height - campaign.runs.height - campaign.failures.height
    total = text.plural(campaign.plan.height, "run")
    if missed := _missed(campaign):
        yield f"{text.count(missed)} of {total} were missed: see the list of visits below."
    left -= missed
    if left > 0:
        yield f"{text.count(left)} of {total} are still to be done."
    if campaign.failures.height:
        yield f"{text.plural(campaign.failures.height, 'run')} failed: see the list below."
    unfinished = int((~campaign.runs["finished"]).sum())
    if unfinished:
        yield (
            f"In {text.plural(unfinished, 'run')} the transfer did not finish: figures leave "
            "them out."
        )


def _gain(one: Estimated, level: float) -> str:
    estimate = one.estimate or 0.0
    digits = _digits(one)
    gain = f"{_points(estimate, digits)} % {_sense(estimate)} throughput"
    if one.low is None or one.high is None:
        return gain
    ends = sorted((one.low, one.high), key=abs)
    if _sense(one.low) == _sense(one.high) == _sense(estimate):
        shown = " to ".join(f"{_points(end, digits)} %" for end in ends)
    else:
        shown = " to ".join(
            f"{_points(end, digits)} % {_sense(end)}" for end in (one.low, one.high)
        )
    return f"{gain} ({100 * level:.0f} % interval {shown}, n {one.n})"


def _leaves_out_0(one: Estimated) -> bool:
    return one.low is not None and one.high is not None and not one.low <= 0 <= one.high


def _sense(part: float) -> str:
    return "more" if part >= 0 else "less"


def _points(part: float, digits: int) -> str:
    return f"{abs(100 * part):.{digits}f}"


def _digits(one: Estimated) -> int:
    """Give as many digits after the point as distinguish the interval's ends."""
    fewest = 0 if abs(one.estimate or 0.0) >= 0.0995 else 1
    if one.low is None or one.high is None:
        return fewest
    return text.digits(100 * one.low, 100 * one.high, fewest)


def _percent(one: Estimated) -> str:
    return f"{100 * (one.estimate or 0.0):.0f} %"


def _values(subject: Subject, one: Estimated) -> str:
    return _named(subject, one.group)


def _named(subject: Subject, number: int) -> str:
    axes = subject.groups[number].axes
    return text.clean(", ".join(f"{axis} {value}" for axis, value in axes.items()))
