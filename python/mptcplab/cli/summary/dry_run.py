"""A campaign before it is run: what varies, how many runs there are, how long they take."""

from __future__ import annotations

from mptcplab.campaign.estimate import estimate
from mptcplab.campaign.perform import workers
from mptcplab.cli.summary.page import Page
from mptcplab.labels import text
from mptcplab.results.labels import too_few
from mptcplab.results.overview import SCHEMA
from mptcplab.results.statistics import pairs_needed
from mptcplab.results.statistics.intervals import LEVEL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from mptcplab.campaign.matrix import Matrix


def print_dry_run(matrix: Matrix, out: Path, jobs: int | None, *, page: Page | None = None) -> None:
    """Print it; runs are measured where none are there."""
    page = page or Page()
    sheet = matrix.sheet
    facts = [page.style(text.clean(sheet.name), "strong")]
    if sheet.campaign.title:
        facts.append(text.clean(sheet.campaign.title))
    page.facts(facts, indent="")
    page.line()
    width = max((len(axis.name) for axis in sheet.axes), default=0)
    for axis in sheet.axes:
        labels = ", ".join(text.clean(str(label)) for label in axis.labels)
        page.words(labels, first=axis.name.ljust(width) + "  ")
    if sheet.axes:
        page.line()
    _print_counts(page, matrix)
    _print_power(page, matrix)
    _print_estimate(page, matrix, out, jobs)


def _print_power(page: Page, matrix: Matrix) -> None:
    """Say where there are too few repetitions for any difference to be significant."""
    words = too_few(matrix.sheet.campaign.repetitions, LEVEL)
    compared = sum(bool(one.baselines) for one in matrix.configurations)
    if words is None or not compared:
        return
    if compared > 1:
        alone = pairs_needed(comparisons=compared)
        words += f", {alone} where one of {compared} configurations alone differs"
    page.words(words, first="! ", style="warning")


def document(matrix: Matrix, out: Path, jobs: int | None) -> dict[str, Any]:
    """Give the same for scripts; what a run takes is measured where none are there."""
    sheet = matrix.sheet
    found = estimate(matrix.shuffled(), out)
    left = len(matrix.runs) - found.there
    at_once = workers(sheet.campaign.engine, left, jobs) if left else 0
    return {
        "schema": SCHEMA,
        "campaign": sheet.name,
        "title": sheet.campaign.title,
        "axes": {axis.name: axis.labels for axis in sheet.axes},
        "configurations": len(matrix.configurations),
        "repetitions": sheet.campaign.repetitions,
        "repetitions_needed": pairs_needed(),
        "runs": len(matrix.runs),
        "runs_there": found.there,
        "runs_measured": found.measured,
        "run_s": found.seconds,
        "at_once": at_once,
        "left_s": left * found.seconds / at_once if left and found.seconds else None,
        "failure": found.failure,
    }


def _print_counts(page: Page, matrix: Matrix) -> None:
    repetitions = matrix.sheet.campaign.repetitions
    configurations = len(matrix.configurations)
    baselines = len(matrix.runs) - configurations * repetitions
    page.words(
        f"{text.plural(configurations, 'configuration')} × {text.plural(repetitions, 'repetition')}"
        f", and {text.plural(baselines, 'run')} of plain TCP beside them: "
        f"{text.plural(len(matrix.runs), 'run')}"
    )


def _print_estimate(page: Page, matrix: Matrix, out: Path, jobs: int | None) -> None:
    tasks = matrix.shuffled()
    found = estimate(tasks, out)
    left = len(tasks) - found.there
    if found.there:
        page.words(f"{text.count(found.there)} are there already in {out}")
    if found.seconds is None:
        page.words(f"the run that was tried failed: {found.failure}", first="! ", style="warning")
    elif left:
        at_once = workers(matrix.sheet.campaign.engine, left, jobs)
        page.words(
            f"about {text.seconds(left * found.seconds / at_once)} for the {text.count(left)} that "
            f"are left, {at_once} at once: one takes {text.seconds(found.seconds)}, the mean of "
            f"{text.plural(found.measured, 'run')} "
            + ("that are there" if found.there else "that were tried")
        )
