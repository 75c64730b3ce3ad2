"""The page of several runs, overlaid and aligned at their beginnings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from mptcplab import _core
from mptcplab._core import Error
from mptcplab.analysis import Analysis
from mptcplab.charts.overlaid import MOST, Overlaid, aligned, charts, each_of, made
from mptcplab.charts.run.events import moments
from mptcplab.charts.run.provenance import remarks
from mptcplab.charts.shape import (
    Badge,
    Document,
    Fact,
    Moment,
    Page,
    Provenance,
    Subflow,
    Table,
)
from mptcplab.labels import text
from mptcplab.labels.commands import typed_command
from mptcplab.metrics import heads, of_runs
from mptcplab.results import run_metrics
from mptcplab.results.comparison import Comparison
from mptcplab.results.labels import engine, finished, label
from mptcplab.results.run import Run
from mptcplab.results.statistics import gain


def describe(named: Sequence[tuple[str, Comparison | Run | Analysis]]) -> Page:
    """Describe the page of runs with their names; those without a connection are left out.

    Raises:
        Error: None has a connection.
    """
    overlaid = aligned([one for name, source in _apart(named) for one in each_of(name, source)])
    if not overlaid:
        raise Error("there is no connection to report of")
    # What moved no data that is known has no curves.
    shown = sorted(overlaid, key=lambda one: not one.subject.transfer)[:MOST]
    how, origins = _laid(shown)
    return Page(
        title=_title(overlaid),
        name="-".join(one.name for one in shown),
        subtitle=f"laid over each other{how} from {origins}",
        badges=_badges(overlaid),
        verdict=list(_verdict(overlaid)),
        from_s=0.0,
        to_s=max(one.length_s for one in shown),
        captures=[],
        subflows=[Subflow(number, one.name, number) for number, one in enumerate(shown)],
        parts="Runs",
        time=f"seconds from {origins}",
        tables=[_table(overlaid)],
        charts=[chart for chart in charts(shown, len(overlaid)) if chart.series],
        tracks=[],
        moments=_moments(shown),
        events=[],
        provenance=_provenance(overlaid),
    )


def _apart(
    named: Sequence[tuple[str, Comparison | Run | Analysis]],
) -> Iterator[tuple[str, Comparison | Run | Analysis]]:
    """Number names that are not one run's alone."""
    names = [name for name, _ in named]
    for number, (name, source) in enumerate(named, 1):
        yield (name if names.count(name) == 1 else f"{name} ({number})"), source


def _laid(shown: list[Overlaid]) -> tuple[str, str]:
    """Say how they are laid over each other, and from when seconds count."""
    apart = [one for one in shown if one.began_s in (None, one.subject.start_s)]
    if len(apart) == len(shown):
        return ", each", " or ".join(sorted({f"the {one.origin}" for one in shown}))
    if len(apart) == 1:
        return " by their clocks,", "the first packet of all"
    return ", those of one time by their clocks,", "the first packet of each time"


# So many of more than can be drawn are named in the title.
NAMED = 4


def _title(overlaid: list[Overlaid]) -> str:
    scenarios = {one.run.about["scenario"] if one.run else None for one in overlaid}
    if len(scenarios) == 1 and (run := overlaid[0].run) is not None:
        what = overlaid[0].subject.scenario.get("title")
        title = f"{run.about['scenario']}: {text.plural(len(overlaid), 'run')}"
        return text.clean(f"{title} of {what}" if what else title)
    names = [one.name for one in overlaid]
    if len(names) > MOST:
        names = [*names[: NAMED - 1], f"{len(names) - NAMED + 1} more"]
    return text.clean(f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0])


def _badges(overlaid: list[Overlaid]) -> list[Badge]:
    engines = {engine(one.run.about) if one.run else made(one) for one in overlaid}
    return [
        Badge(text.plural(len(overlaid), "run"), "what is laid over each other"),
        *(Badge(one, "where they come from") for one in sorted(engines)),
    ]


def _verdict(overlaid: list[Overlaid]) -> Iterator[str]:
    """Say what MPTCP gained over all of them if they are repetitions, and which was fastest."""
    beside = [one.source for one in overlaid if isinstance(one.source, Comparison)]
    if len({one.mptcp.about["scenario"] for one in beside}) == 1 and len(beside) == len(overlaid):
        yield from _gain(beside)
    known = {
        one.name: value
        for one in overlaid
        if (value := one.subject.transfer.get("throughput_mbps")) is not None
    }
    if len(known) < 2:
        return
    fast, slow = max(known, key=known.__getitem__), min(known, key=known.__getitem__)
    more = known[fast] / known[slow] - 1 if known[slow] else None
    by = "" if more is None else f": a difference of {100 * more:.0f} %"
    yield (
        f"{text.clean(fast)} was the fastest with {text.rate(known[fast])}, {text.clean(slow)} the "
        f"slowest with {text.rate(known[slow])}{by}."
    )


def _gain(beside: list[Comparison]) -> Iterator[str]:
    if not all(one.baselines for one in beside):
        return
    paths = list(beside[0].baselines)
    single = {
        path: {number: _finished(one.baselines.get(path)) for number, one in enumerate(beside)}
        for path in paths
    }
    found = gain({number: _finished(one.mptcp) for number, one in enumerate(beside)}, single)
    relative = found.paired.relative
    if relative.estimate is None or not found.all_finished:
        yield f"No gain is known: {finished(found)}."
        return
    within = (
        ""
        if relative.low is None or relative.high is None
        else f" ({100 * relative.level:.0f} % interval {100 * relative.low:+.0f} to "
        f"{100 * relative.high:+.0f} %)"
    )
    more = "more" if relative.estimate >= 0 else "less"
    yield (
        f"Over {text.plural(len(beside), 'run')} MPTCP gives {100 * abs(relative.estimate):.0f} % "
        f"{more} throughput than TCP over {found.best_path}{within}."
    )


def _finished(run: Run | None) -> float | None:
    return run.throughput_mbps if run is not None and run.outcome["finished"] else None


def _table(overlaid: list[Overlaid]) -> Table:
    metrics = of_runs("page")
    rows = [
        [
            text.clean(one.name),
            label(one.run) if one.run else "",
            *(metric.bare(_metrics(one).get(metric.column)) for metric in metrics),
            _against(one),
            "" if one.run is None or one.run.outcome["finished"] else "not finished",
        ]
        for one in overlaid
    ]
    columns = ["run", "what", *heads(metrics), "over the best path", ""]
    numeric = [False, False, *(True for _ in metrics), True, False]
    meanings = [
        None,
        None,
        *(one.meaning for one in metrics),
        "throughput of MPTCP over that of plain TCP over the best single path, - 1",
        None,
    ]
    empty = ("", text.UNKNOWN)
    some = [
        number for number in range(len(columns)) if any(row[number] not in empty for row in rows)
    ]
    return Table(
        "runs",
        "The runs",
        [columns[number] for number in some],
        [numeric[number] for number in some],
        [[row[number] for number in some] for row in rows],
        [meanings[number] for number in some],
    )


def _metrics(one: Overlaid) -> dict[str, object]:
    if one.run is not None:
        return one.run.metrics
    return run_metrics.metrics_of(one.subject.transfer or None, one.subject.flows)


def _against(one: Overlaid) -> str:
    found = one.source.gain if isinstance(one.source, Comparison) else None
    return text.UNKNOWN if found is None else f"{100 * found:+.0f} %"


def _moments(shown: list[Overlaid]) -> list[Moment]:
    """Give what the timeline did where it did the same in all of them."""
    first, *others = (
        [_shifted(moment, one.origin_s) for moment in moments(one.subject)] for one in shown
    )
    return first if all(one == first for one in others) else []


def _shifted(moment: Moment, origin_s: float) -> Moment:
    """Count from there, to the microsecond: what is the same in several runs is to be equal."""
    to_s = None if moment.to_s is None else round(moment.to_s - origin_s, 6)
    return replace(moment, at_s=round(moment.at_s - origin_s, 6), to_s=to_s)


def _provenance(overlaid: list[Overlaid]) -> Provenance:
    facts = [Fact("mptcplab", f"page by {_core.VERSION}")]
    for one in overlaid:
        if one.run is None:
            from_tool = one.subject.connection.get("source") is not None
            facts.append(
                Fact(one.name, made(one) if from_tool else ", ".join(one.subject.captures))
            )
            continue
        about = one.run.about
        description = f"{engine(about)}, seed {about['seed']}, in {os.fspath(one.run.directory)}"
        facts.append(Fact(one.name, f"{description}: {typed_command(about['command_line'])}"))
    texts = list(dict.fromkeys(one.subject.scenario_text for one in overlaid if one.run))
    documents = [
        Document(f"Scenario {number}", f"scenario-{number}.toml", written)
        for number, written in enumerate(texts, 1)
    ]
    cleaned = [Fact(text.clean(one.name), text.clean(one.value)) for one in facts]
    return Provenance(cleaned, _remarks(overlaid), None, documents)


def _remarks(overlaid: list[Overlaid]) -> list[str]:
    """Give what limits trust in files and captures; that of a run stands on its own page."""
    said: dict[str, list[str]] = {}
    for one in overlaid:
        for remark in remarks(one.subject) if one.run is None else ():
            said.setdefault(remark, []).append(text.clean(one.name))
    return [
        remark if _is_told(remark, of, len(overlaid)) else f"{_first(of)}: {remark}"
        for remark, of in said.items()
    ]


def _is_told(remark: str, of: list[str], all_of: int) -> bool:
    """Say whether a remark is of all, or begins with its file, after which a name may go on."""
    return len(of) == all_of or of[0].startswith(remark.partition(":")[0])


def _first(of: list[str]) -> str:
    return of[0] if len(of) == 1 else f"{of[0]} and {len(of) - 1} more"


def names(
    sources: Sequence[object], opened: Sequence[object]
) -> list[tuple[str, Comparison | Run | Analysis]]:
    """Name what was opened: by directories, and repetitions by their seeds.

    Raises:
        Error: One of them is a campaign.
    """
    found: list[tuple[str, Comparison | Run | Analysis]] = []
    for source, one in zip(sources, opened, strict=True):
        if isinstance(one, list):
            of = _last(source, one) if len(sources) > 1 else ""
            found += [(f"{of} {_seed(each)}".strip(), each) for each in one]
        elif isinstance(one, Comparison | Run | Analysis):
            found.append((_last(source, one), one))
        else:
            raise Error(f"{source} is a campaign: its page stands alone")
    return found


def _last(source: object, one: object) -> str:
    """Give the last part of a path, of the directory of what has no other."""
    if isinstance(source, str | os.PathLike):
        return Path(source).resolve().name
    return one.directory.resolve().name if isinstance(one, Comparison | Run) else "captures"


def _seed(comparison: Comparison) -> str:
    seed = str(comparison.mptcp.about["seed"])
    own = comparison.directory.name
    return f"seed {seed}" if own == seed else own
