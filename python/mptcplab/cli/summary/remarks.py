"""What limits trust in the figures."""

from __future__ import annotations

from mptcplab import _core
from mptcplab.cli.summary import text
from mptcplab.cli.summary.page import Page

# These take nothing away from the figures.
MERE_INFORMATION = frozenset({"clock_offset", "not_ip", "not_tcp", "reordered"})
MOST = 12
MOST_PLACES = 3


def print_remarks(page: Page, tables: _core.Tables) -> None:
    """Print the remarks, if there are any, each once with the places that it is about."""
    places: dict[tuple[bool, str], list[str]] = {}
    for row in tables.rows("diagnostics"):
        key = (row["diagnostic"] in MERE_INFORMATION, row["message"])
        places.setdefault(key, []).append(_place(row))
    if places:
        page.line()
    for (mere, message), where in sorted(places.items(), key=lambda item: item[0][0])[:MOST]:
        first, style = ("· ", "faint") if mere else ("! ", "warning")
        page.words(_listed(where) + text.clean(message), first=first, style=style)
    if len(places) > MOST:
        page.words(f"… and {len(places) - MOST} more; --json lists all", style="faint")


def _place(row: dict[str, object]) -> str:
    names = [f"{name} {row[name]}" for name in ("connection", "subflow") if row[name] is not None]
    if row["capture"] is not None:
        names.append(text.clean(str(row["capture"])))
    return " ".join(names)


def _listed(places: list[str]) -> str:
    named = ", ".join(filter(None, places[:MOST_PLACES]))
    if len(places) > MOST_PLACES:
        named += f" and {text.count(len(places) - MOST_PLACES)} more"
    return f"{named}: " if named else ""
