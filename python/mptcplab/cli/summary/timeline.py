"""What the scenario of a run did to its paths."""

from __future__ import annotations

from mptcplab.words import text
from mptcplab.words.timeline import changes, too_late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.cli.summary.page import Page
    from mptcplab.results.run import Run

MOST = 12


def print_timeline(page: Page, run: Run) -> None:
    """Print it in order of time, and what of it came too late."""
    found = changes(run.scenario)
    for one in found[:MOST]:
        style = "warning" if one.is_grave else ""
        page.words(one.words, first=f"{text.at(one.at_s):>10}  ", style=style)
    if len(found) > MOST:
        more = f"… {len(found) - MOST} more changes by the timeline; the page lists all"
        page.words(more, first=" " * 12, style="faint")
    end_s = run.transfer["elapsed_s"] if run.transfer and run.outcome["finished"] else None
    if late := too_late(found, end_s):
        page.words(late, first="! ", style="warning")
