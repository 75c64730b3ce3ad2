"""A campaign before it is run: what varies, how many runs there are, how long they take."""

from __future__ import annotations

from mptcplab.campaign.estimate import estimate
from mptcplab.cli.summary.page import Page
from mptcplab.sweeping import workers
from mptcplab.words import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

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
    _print_estimate(page, matrix, out, jobs)


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
