"""The summary: what happened, at a glance. Drawn from the tables and from nothing else."""

from __future__ import annotations

from mptcplab.analysis import Measured
from mptcplab.cli.summary.page import on_stdout

# The most connections that are shown in full.
IN_FULL = 20


def print_summary(tables: Measured, *, one: bool = False) -> None:
    """Print the summary; ``one`` says that it is about the one connection asked for."""
    page = on_stdout()
    count = len(tables.table("connections"))
    from mptcplab.cli.summary.findings import print_first

    print_first(page, tables.rows("findings"), several=count > 1)
    if count == 0:
        page.line("no connection in the captures")
    elif count <= IN_FULL:
        from mptcplab.cli.summary.connection import print_connections

        print_connections(page, tables, one=one)
    else:
        from mptcplab.cli.summary.overview import print_overview

        print_overview(page, tables, count)
    from mptcplab.cli.summary.remarks import print_remarks

    print_remarks(page, tables)
