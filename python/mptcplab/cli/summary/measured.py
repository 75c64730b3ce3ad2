"""What was measured in a run: its connections, and what limits trust in them."""

from __future__ import annotations

from mptcplab.cli.summary.connection import print_connections
from mptcplab.cli.summary.remarks import print_remarks
from mptcplab.cli.summary.timeline import print_rest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.cli.summary.page import Page
    from mptcplab.results.run import Run, StoredTables

# What goes without saying where no connection came about.
EMPTY = frozenset({"no_tcp"})


def print_measured(page: Page, tables: StoredTables, *, run: Run | None = None) -> None:
    """Print the connections in full, what a run's timeline did meanwhile, and the remarks."""
    if len(tables.table("connections")):
        print_connections(page, tables, one=False, run=run)
        if run is not None:
            print_rest(page, run)
        print_remarks(page, tables)
    else:
        page.words("no connection came about", first="! ", style="warning")
        print_remarks(page, tables, but=EMPTY)
