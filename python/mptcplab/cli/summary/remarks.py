"""What limits trust in the figures."""

from __future__ import annotations

import re
from typing import Any

from mptcplab.analysis import Measured
from mptcplab.cli.summary.page import Page
from mptcplab.labels import text

Row = dict[str, Any]

# These take nothing away from the figures.
MERE_INFORMATION = frozenset(
    {
        *("budget_spent", "clock_offset", "not_ip", "not_tcp", "reordered"),
        *("no_clock", "omitted", "rough_clock", "rounded", "sent_not_arrived"),
    }
)
MOST = 12
NUMBER = re.compile(r"\d+(\.\d+)?")
# A number of things, as messages have it.
COUNT = re.compile(r"(?<![\d.:])\d{4,}(?= [a-z]+s\b)")


def print_remarks(page: Page, tables: Measured, *, but: frozenset[str] = frozenset()) -> None:
    """Print the remarks, if there are any: those of one kind once, with the first's figures.

    ``but`` names diagnostics that are left out.
    """
    kinds: dict[tuple[str, ...], list[Row]] = {}
    for row in tables.rows("diagnostics"):
        if row["diagnostic"] not in but:
            kinds.setdefault(_kind(row), []).append(row)
    if kinds:
        page.line()
    for rows in sorted(kinds.values(), key=_is_mere)[:MOST]:
        first, style = ("· ", "faint") if _is_mere(rows) else ("! ", "warning")
        page.paragraph(_prefix(rows) + _message(rows), first=first, style=style)
    if len(kinds) > MOST:
        page.paragraph(f"… and {len(kinds) - MOST} more; --json lists all", style="faint")


def _kind(row: Row) -> tuple[str, ...]:
    """Name what remarks must share to be printed as one."""
    if row["connection"] is not None:
        return (row["diagnostic"],)
    return row["diagnostic"], NUMBER.sub("", row["message"])


def _is_mere(rows: list[Row]) -> bool:
    return rows[0]["diagnostic"] in MERE_INFORMATION


def _message(rows: list[Row]) -> str:
    message = COUNT.sub(lambda count: text.count(int(count[0])), rows[0]["message"])
    differ = any(row["message"] != rows[0]["message"] for row in rows)
    return text.clean(message) + (" (so the first; --json has all)" if differ else "")


def _prefix(rows: list[Row]) -> str:
    """Say what the remarks are about: the first, and how many more."""
    labels = list(dict.fromkeys(filter(None, map(_label, rows))))
    if not labels:
        return ""
    more = f" and {text.count(len(labels) - 1)} more" if len(labels) > 1 else ""
    return f"{labels[0]}{more}: "


def _label(row: Row) -> str:
    names = [f"{name} {row[name]}" for name in ("connection", "subflow") if row[name] is not None]
    if row["capture"] is not None:
        names.append(text.clean(str(row["capture"])))
    return ", ".join(names)
