"""What there is of a kind, a line about each; and one of them, with what can be set of it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mptcplab.cli.say import print_json, show
from mptcplab.cli.summary.page import Column, Page, draw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.recordings.loading import Reader


def listing(thing: str, names: Sequence[str], lines: Sequence[str], hint: str) -> None:
    """Print the list, and how one is used."""
    page = Page()
    room = page.width - max(map(len, [thing, *names])) - 2
    lines = [textwrap.shorten(line, room, placeholder=" …") for line in lines]
    draw(page, [Column(thing, names, left=True), Column("", lines, left=True)], indent="")
    page.line()
    page.paragraph(hint, indent="", style="faint")


def entry(kind: str, name: str, summary: str, **more: Any) -> dict[str, Any]:
    """Give what JSON says of one, whatever it is: these three, then what only its kind has."""
    return {"name": name, "kind": kind, "summary": summary, **more}


def list_readers(readers: Iterable[Reader], parts: Mapping[str, str], *, json: bool) -> None:
    """List what reads files of other tools; ``parts`` are what is said of each, and under what."""
    if json:
        print_json(
            [{key: getattr(one, key) for key in ("name", "title", *parts)} for one in readers]
        )
        return
    width = max(map(len, parts.values())) + 1
    for one in readers:
        show(f"{one.name}: {one.title}")
        for part, label in parts.items():
            show(f"  {label:<{width}} {getattr(one, part)}")


def describe(described: dict[str, Any], where: str) -> None:
    """Print what it is and its parameters, and ``where`` these are set."""
    page = Page()
    page.paragraph(f"{described['name']}: {_plain(described['summary'])}", indent="")
    page.line()
    if not described["parameters"]:
        page.paragraph("it has no parameters", indent="", style="faint")
        return
    page.paragraph(where, indent="", style="faint")
    for parameter in described["parameters"]:
        shown = _default(parameter)
        rest = f", {shown} if left out" if shown else ", needed" if parameter["required"] else ""
        page.line(f"  {page.style(parameter['name'], 'strong')} ({parameter['kind']}{rest})")
        page.paragraph(_plain(parameter["doc"]), indent="    ")


def _default(parameter: dict[str, Any]) -> str:
    from mptcplab.messages import quoted
    from mptcplab.scenario import element
    from mptcplab.scenario.described import KINDS

    default = parameter["default"]
    if default is None:
        return ""
    if parameter["kind"] == element.QUEUE:
        return str(default[element.QUEUE])
    return quoted(KINDS[parameter["kind"]].show(default))


def _plain(text: str) -> str:
    return " ".join(text.replace("`", "").split())
