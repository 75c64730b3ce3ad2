"""What the scenario of a run did to its paths."""

from __future__ import annotations

from mptcplab.labels.events import changes, too_late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.cli.summary.events import Line
    from mptcplab.cli.summary.page import Page
    from mptcplab.results.run import Run

MOST = 12


def lines(run: Run) -> list[Line]:
    """Give a line per change, to stand among those of the connection's events."""
    return [(one.at_s, None, one.words, one.is_grave) for one in changes(run.scenario)[:MOST]]


def print_rest(page: Page, run: Run) -> None:
    """Print how many changes have no line, and what of them came too late."""
    found = changes(run.scenario)
    if len(found) > MOST:
        more = f"… {len(found) - MOST} more changes by the timeline; the page lists all"
        page.words(more, first=" " * 12, style="faint")
    end_s = run.transfer["elapsed_s"] if run.transfer and run.outcome["finished"] else None
    if late := too_late(found, end_s):
        page.words(late, first="! ", style="warning")
