"""What there is of a kind: a name and a line about each."""

from __future__ import annotations

import textwrap

from mptcplab.cli.summary.page import Column, Page, draw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def listing(thing: str, names: Sequence[str], lines: Sequence[str], hint: str) -> None:
    """Print the list, and how one is used."""
    page = Page()
    room = page.width - max(map(len, [thing, *names])) - 2
    lines = [textwrap.shorten(line, room, placeholder=" …") for line in lines]
    draw(page, [Column(thing, names, left=True), Column("", lines, left=True)], indent="")
    page.line()
    page.words(hint, indent="", style="faint")


def entry(kind: str, name: str, summary: str, **more: Any) -> dict[str, Any]:
    """Give what JSON says of one, whatever it is: these three, then what only its kind has."""
    return {"name": name, "kind": kind, "summary": summary, **more}
