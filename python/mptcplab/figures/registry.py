"""Which kinds of figures there are: each file in ``kinds`` registers what it draws."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from mptcplab._core import Error
from mptcplab.metrics import capital

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from mptcplab.figures.choice import Choice
    from mptcplab.figures.paper import Paper

    #: Draws into the figure what a place holds, and gives the caption.
    Draw: TypeAlias = Callable[[Paper, Any, Choice], str]

RUN, CAMPAIGN = "run", "campaign"
_registered: dict[tuple[str, str], Kind] = {}


@dataclass(frozen=True)
class Kind:
    """A kind of figure, of runs or of campaigns; both may have one of the same name."""

    name: str
    of: str
    about: str
    #: What it heeds of a choice.
    options: frozenset[str]
    draw: Draw


def register(name: str, of: str, *options: str, about: str | None = None) -> Callable[[Draw], Draw]:
    """Register what draws a kind; users see the first line about it or of its documentation."""

    def enter(draw: Draw) -> Draw:
        first = capital((about or str(draw.__doc__)).partition("\n")[0].rstrip("."))
        _registered[name, of] = Kind(name, of, first, frozenset(options), draw)
        return draw

    return enter


@cache
def kinds() -> list[Kind]:
    """Give all kinds: those of runs, then those of campaigns, by name."""
    from mptcplab.figures import kinds as package

    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        import_module(module.name)
    return sorted(_registered.values(), key=lambda kind: (kind.of != RUN, kind.name))


def find(name: str, of: str) -> Kind:
    """Give a kind.

    Raises:
        Error: There is none of that name, or not of such a place.
    """
    there = [kind for kind in kinds() if kind.name == name]
    if not there:
        names = ", ".join(kind.name for kind in kinds() if kind.of == of)
        raise Error(f"there is no figure {name!r}; of a {of} there are {names}")
    for kind in there:
        if kind.of == of:
            return kind
    raise Error(f"{name} is a figure of a {there[0].of}, and this is a {of}")
