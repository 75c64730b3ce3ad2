"""What limits trust in the figures."""

from __future__ import annotations

from mptcplab import _core
from mptcplab.cli.summary import text
from mptcplab.cli.summary.page import Page

LIMIT = 12


def print_remarks(page: Page, tables: _core.Tables) -> None:
    """Print the remarks, if there are any."""
    printed = 0
    for row in tables.rows("diagnostics"):
        if printed == 0:
            page.line()
        printed += 1
        if printed <= LIMIT:
            page.words(text.clean(_where(row) + row["message"]), first="! ", style="warning")
    if printed > LIMIT:
        page.words(f"… and {text.plural(printed - LIMIT, 'more remark')}; --json lists all")


def _where(row: dict[str, object]) -> str:
    where = []
    if row["connection"] is not None:
        where.append(f"connection {row['connection']}")
    if row["subflow"] is not None:
        where.append(f"subflow {row['subflow']}")
    if row["capture"] is not None:
        where.append(str(row["capture"]))
    return f"{', '.join(where)}: " if where else ""
