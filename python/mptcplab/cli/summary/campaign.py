"""A campaign: before it is run, and then a line per configuration."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from mptcplab.campaign.budget import worst
from mptcplab.campaign.estimate import estimate
from mptcplab.campaign.matrix import Matrix
from mptcplab.campaign.perform import workers
from mptcplab.campaign.work import Task
from mptcplab.cli.summary.page import Column, Page, draw
from mptcplab.labels import text
from mptcplab.labels.connections import candidate
from mptcplab.labels.findings import NO_FAULT, called
from mptcplab.metrics import OF_RUNS, Metric, of_runs
from mptcplab.probing.row import FOUND, details
from mptcplab.results.campaign import Campaign
from mptcplab.results.labels import engine, too_few
from mptcplab.results.overview import SCHEMA, document
from mptcplab.results.statistics import pairs_needed
from mptcplab.results.statistics.intervals import LEVEL

Row = dict[str, Any]

# The most lines of each kind that are shown, before a count of the others.
MOST_ROWS = 60
MOST_FAILURES = 10
MOST_UNFINISHED = 10
MOST_MISSED = 10
MOST_FINDINGS = 10
THROUGHPUT = OF_RUNS["throughput_mbps"]
# Of the metrics beside the throughput, so many are worth more than the others, the first most.
WORTH = 3


def print_campaign(campaign: Campaign) -> None:
    """Print what was run, what it gave, and what failed."""
    page = Page()
    overview = document(campaign)
    _print_head(page, campaign, overview)
    rows = overview["configurations"]
    protocol = campaign.protocol()
    whose = f"{candidate(protocol, None)}'s" if protocol else "of runs over several paths"
    draw(page, _columns(rows[:MOST_ROWS], overview["axes"], protocol))
    page.paragraph(
        f"mean ± σ over the n runs that finished; the columns after the throughputs are {whose}",
        style="faint",
    )
    pairs = max((row["gain"]["n"] for row in rows if row["gain"]), default=0)
    if pairs:
        page.paragraph(
            "gain: mean throughput over that of the path that is best on average, - 1, with its "
            "95 % interval",
            style="faint",
        )
        _print_few(page, [row["gain"] for row in rows if row["gain"]], pairs)
    _print_more(page, len(rows) - MOST_ROWS, "configuration")
    _print_findings(page, rows)
    _print_unfinished(page, rows, protocol)
    _print_calendar(page, overview["calendar"])
    _print_probes(page, overview["probes"])
    _print_failures(page, overview["failures"], list(overview["axes"]), protocol)
    page.line()
    page.paragraph(f"{campaign.directory} holds the campaign", indent="", style="faint")


def _print_head(page: Page, campaign: Campaign, overview: Row) -> None:
    facts = [page.style(text.clean(overview["campaign"]), "strong")]
    if overview["title"]:
        facts.append(text.clean(overview["title"]))
    facts.append(f"{text.clean(overview['scenario'])}, {engine(campaign.about)}")
    if overview["policies"] and overview["policies"]["in_words"]:
        facts.append(text.clean(overview["policies"]["in_words"]))
    facts.append(text.plural(overview["runs"]["done"], "run"))
    page.facts(facts, indent="")
    page.line()


def _columns(rows: list[Row], axes: dict[str, list[Any]], protocol: str | None) -> list[Column]:
    names = dict.fromkeys(name for row in rows for name in row["runs"])
    columns = [
        Column(axis, [text.clean(str(row["axes"][axis])) for row in rows], left=True)
        for axis in axes
    ]
    own = [row["runs"].get("mptcp", {}) for row in rows]
    columns.append(Column("n", [str(_n(one, "throughput_mbps")) for one in own]))
    for name in names:
        runs = [row["runs"].get(name, {}) for row in rows]
        cells = [_figures(one.get("throughput_mbps")) for one in runs]
        columns.append(Column(f"{_label(name, protocol)} Mbit/s", cells))
    beside = [one.get("neighbours", {}) for one in own]
    for name in dict.fromkeys(name for one in beside for name in one):
        cells = [_figures(one.get(name, {}).get("throughput_mbps")) for one in beside]
        columns.append(Column(f"{text.clean(name)} Mbit/s", cells))
    if len(names) > 1:
        columns.append(Column("gain", [_gain(row["gain"]) for row in rows]))
    both = [one for one in of_runs("runs") if one in of_runs("overview") and one is not THROUGHPUT]
    for number, one in enumerate(both):
        columns += _metric(one, [run.get(one.column) for run in own], max(WORTH - number, 1))
    return columns


def _metric(metric: Metric, stated: list[Row | None], keep: int) -> list[Column]:
    """Give a column; one that no run knows is left out."""
    if not any(one and one["n"] for one in stated):
        return []
    if metric.unit == "s":
        return [Column(metric.brief, [_each(one, metric.show) for one in stated], keep=keep)]
    return [Column(metric.head, [_figures(one) for one in stated], keep=keep)]


def _label(name: str, protocol: str | None) -> str:
    return candidate(protocol, None if name == "mptcp" else name.removeprefix("tcp-"))


def _n(run: Row, figure: str) -> int:
    return int(run[figure]["n"]) if run else 0


def _figures(stated: Row | None) -> str:
    return text.UNKNOWN if stated is None else text.spread(stated["mean"], stated["sigma"])


def _each(stated: Row | None, show: Callable[[float], str]) -> str:
    """Give mean and standard deviation, each with its unit; one run has no deviation."""
    if stated is None or stated["mean"] is None:
        return text.UNKNOWN
    if stated["sigma"] is None:
        return show(stated["mean"])
    return f"{show(stated['mean'])} ± {show(stated['sigma'])}"


def _gain(stated: Row | None) -> str:
    """Give a gain with its interval, in the digits that tell the ends apart."""
    if stated is None or stated["mean"] is None:
        return text.UNKNOWN
    known = [100 * stated[key] for key in ("mean", "low", "high") if stated[key] is not None]
    digits = text.digits(known[1], known[2]) if len(known) > 1 else 0
    # What prints as 0 is not below it.
    first, *ends = (f"{round(one, digits) + 0.0:.{digits}f}" for one in known)
    return f"{first} % [{', '.join(ends)}]" if ends else f"{first} %"


def _print_few(page: Page, gains: list[Row], pairs: int) -> None:
    """Say where no gain is significant, and so few pairs could not show that of one alone."""
    known = [one for one in gains if one["mean"] is not None]
    significant = any(one["p_value"] < 1 - LEVEL for one in known if one["p_value"] is not None)
    few = too_few(pairs, LEVEL, max(len(known), 1))
    if few is not None and not significant:
        page.paragraph(few, first="! ", style="warning")


def _print_more(page: Page, more: int, thing: str) -> None:
    if more > 0:
        page.paragraph(f"and {text.plural(more, thing)} more; --json has all", style="faint")


def _print_findings(page: Page, rows: list[Row]) -> None:
    """Print a line per configuration whose runs of MPTCP had findings, but those of no fault."""
    faults = [[one for one in row["findings"] if one["finding"] not in NO_FAULT] for row in rows]
    concerned = [(row, found) for row, found in zip(rows, faults, strict=True) if found]
    for row, found in concerned[:MOST_FINDINGS]:
        which = ", ".join(f"{axis} {value}" for axis, value in row["axes"].items())
        kinds = ", ".join(_found(one) for one in found)
        page.paragraph(text.clean(f"{which}: {kinds}" if which else kinds), first="why ")
    _print_more(page, len(concerned) - MOST_FINDINGS, "such configuration")


def _found(row: Row) -> str:
    cost = row["cost_s_median"]
    known = "" if cost is None else f" ({text.seconds(cost)} lost)"
    return f"{called(row['finding'])} in {row['runs']} of {row['of']}{known}"


def _print_unfinished(page: Page, rows: list[Row], protocol: str | None) -> None:
    concerned = [
        row for row in rows if any(run["finished"] < run["runs"] for run in row["runs"].values())
    ]
    if not concerned:
        return
    page.paragraph(
        f"transfers did not finish in {text.plural(len(concerned), 'configuration')}: "
        "they do not count above, and where those of MPTCP or of every path are among them "
        "there is no gain",
        first="! ",
        style="warning",
    )
    for row in concerned[:MOST_UNFINISHED]:
        which = " ".join(f"{axis} {value}" for axis, value in row["axes"].items())
        counts = ", ".join(
            f"{_label(name, protocol)} {run['finished']} of {run['runs']}"
            for name, run in row["runs"].items()
        )
        sentence = f"{which}: {counts} finished" if which else f"{counts} finished"
        page.paragraph(text.clean(sentence), first="! ", style="warning")
    _print_more(page, len(concerned) - MOST_UNFINISHED, "configuration")


def _print_calendar(page: Page, calendar: Row | None) -> None:
    """Print the time zone of hours, and which visits were missed."""
    if calendar is None:
        return
    zone = ZoneInfo(calendar["time_zone"])
    page.paragraph(f"hour: of the day in {zone.key}", style="faint")
    states = ", ".join(f"{text.count(n)} {state}" for state, n in calendar["states"].items())
    carried = ", ".join(
        f"{text.clean(path)} {text.size(count)}" for path, count in calendar["bytes"].items()
    )
    sentence = f"{text.plural(calendar['visits'], 'visit')}: {states}"
    page.paragraph(f"{sentence}; carried: {carried}" if carried else sentence)
    missed = calendar["missed"]
    for row in missed[-MOST_MISSED:]:
        at = datetime.fromisoformat(row["due"]).astimezone(zone).strftime("%a %Y-%m-%d %H:%M")
        page.paragraph(f"{at} missed: {text.clean(row['why'])}", first="! ", style="warning")
    _print_more(page, len(missed) - MOST_MISSED, "missed visit")


def _print_probes(page: Page, probes: list[Row] | None) -> None:
    """Print which probes found something in the paths."""
    for row in probes or ():
        if row["verdict"] in FOUND:
            sentence = f"{row['path']}: {row['probe']} {row['verdict']}: {details(row)}"
            page.paragraph(text.clean(sentence), first="! ", style="warning")


def _print_failures(page: Page, failures: list[Row], axes: list[str], protocol: str | None) -> None:
    for row in failures[:MOST_FAILURES]:
        which = [f"{axis} {row[axis]}" for axis in axes if row[axis] is not None]
        which += [candidate(protocol, row["path"]), f"seed {row['seed']}"]
        sentence = f"{text.clean(', '.join(which))} failed: {text.clean(row['reason'])}"
        page.paragraph(sentence, first="! ", style="bad")
    _print_more(page, len(failures) - MOST_FAILURES, "failure")


def print_dry_run(matrix: Matrix, out: Path, jobs: int | None) -> None:
    """Print it; runs are measured where none are there."""
    page = Page()
    definition = matrix.definition
    page.head(definition.name, definition.campaign.title)
    width = max((len(axis.name) for axis in definition.axes), default=0)
    for axis in definition.axes:
        labels = ", ".join(text.clean(str(label)) for label in axis.labels)
        page.paragraph(labels, first=axis.name.ljust(width) + "  ")
    if definition.axes:
        page.line()
    _print_counts(page, matrix)
    _print_power(page, matrix)
    _print_estimate(page, matrix, out, jobs)


def _print_power(page: Page, matrix: Matrix) -> None:
    """Say where there are too few repetitions for any difference to be significant."""
    compared = sum(bool(one.baselines) for one in matrix.configurations)
    few = too_few(matrix.definition.campaign.repetitions, LEVEL, max(compared, 1))
    if few is not None and compared:
        page.paragraph(few, first="! ", style="warning")


def plan_document(matrix: Matrix, out: Path, jobs: int | None) -> dict[str, Any]:
    """Give the same for scripts; what a run takes is measured where none are there."""
    definition = matrix.definition
    found = estimate(matrix.shuffled(), out)
    left = len(matrix.runs) - found.there
    at_once = workers(definition.campaign.engine, left, jobs) if left else 0
    return {
        "schema": SCHEMA,
        "campaign": definition.name,
        "title": definition.campaign.title,
        "axes": {axis.name: axis.labels for axis in definition.axes},
        "configurations": len(matrix.configurations),
        "repetitions": definition.campaign.repetitions,
        "repetitions_needed": pairs_needed(),
        "runs": len(matrix.runs),
        "runs_there": found.there,
        "runs_measured": found.measured,
        "run_s": found.seconds,
        "at_once": at_once,
        "left_s": left * found.seconds / at_once if left and found.seconds else None,
        "failure": found.failure,
        "most_bytes": None
        if definition.campaign.engine.emulates
        else worst(task for task in matrix.shuffled() if task.run not in found.runs),
    }


def _print_counts(page: Page, matrix: Matrix) -> None:
    repetitions = matrix.repetitions
    configurations = len(matrix.configurations)
    baselines = len(matrix.runs) - configurations * repetitions
    over_tcp = all(one.mptcp.scenario.transfer.protocol == "tcp" for one in matrix.configurations)
    page.paragraph(
        f"{text.plural(configurations, 'configuration')} × {text.plural(repetitions, 'repetition')}"
        f", and {text.plural(baselines, 'run')} {'of plain TCP' if over_tcp else 'over one path'} "
        "beside them: "
        f"{text.plural(len(matrix.runs), 'run')}"
    )


def _print_volume(page: Page, tasks: list[Task]) -> None:
    """Say what real networks will carry."""
    for path, count in worst(tasks).items():
        sentence = "as much as it carries while its runs last"
        if count is not None:
            sentence = f"at most {text.size(count)}, headers and retransmissions included"
        page.paragraph(sentence, first=f"{text.clean(path)}  ")


def _print_estimate(page: Page, matrix: Matrix, out: Path, jobs: int | None) -> None:
    tasks = matrix.shuffled()
    found = estimate(tasks, out)
    left = len(tasks) - found.there
    if found.there:
        page.paragraph(f"{text.count(found.there)} are already done in {out}")
    real = not matrix.definition.campaign.engine.emulates
    if real and left:
        _print_volume(page, [task for task in tasks if task.run not in found.runs])
    if found.seconds is None and real:
        page.paragraph("nothing was sent, so that how long a run takes is not known")
    elif found.seconds is None:
        page.paragraph(
            f"the run that was tried failed: {found.failure}", first="! ", style="warning"
        )
    elif left:
        at_once = workers(matrix.definition.campaign.engine, left, jobs)
        page.paragraph(
            f"{text.plural(left, 'run')} left: "
            f"about {text.seconds(left * found.seconds / at_once)}, {at_once} at a time; "
            f"one takes {text.seconds(found.seconds)}, "
            f"the mean of {text.plural(found.measured, 'run')} "
            + ("already done" if found.there else "tried just now")
        )
