"""What something is that a scenario names, and what can be set of it."""

from __future__ import annotations

from mptcplab.cli.summary.page import Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def describe(described: dict[str, Any], where: str) -> None:
    """Print what it is and its parameters, and ``where`` these are set."""
    page = Page()
    page.words(f"{described['name']}: {_plain(described['summary'])}", indent="")
    page.line()
    if not described["parameters"]:
        page.words("nothing can be set of it", indent="", style="faint")
        return
    page.words(where, indent="", style="faint")
    for parameter in described["parameters"]:
        shown = _default(parameter)
        rest = f", {shown} if left out" if shown else ", needed" if parameter["required"] else ""
        page.line(f"  {page.style(parameter['name'], 'strong')} ({parameter['kind']}{rest})")
        page.words(_plain(parameter["doc"]), indent="    ")


def _default(parameter: dict[str, Any]) -> str:
    from mptcplab.messages import said
    from mptcplab.scenario import element
    from mptcplab.scenario.described import KINDS

    default = parameter["default"]
    if default is None:
        return ""
    if parameter["kind"] == element.QUEUE:
        return str(default[element.QUEUE])
    return said(KINDS[parameter["kind"]].show(default))


def _plain(text: str) -> str:
    return " ".join(text.replace("`", "").split())
