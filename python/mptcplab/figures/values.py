"""Figures of runs that can be chosen."""

from __future__ import annotations

from mptcplab._core import Error
from mptcplab.words.figures import NAMES, capital, labelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.figures.choice import Choice


def chosen(choice: Choice, usual: str, *, more: tuple[str, ...] = ()) -> str:
    """Give the name of the figure that was chosen, or the kind's own."""
    value = choice.value or usual
    if value not in (*NAMES, *more):
        raise Error(f"runs have no figure {value!r}; they have {', '.join((*NAMES, *more))}")
    return value


def label(value: str) -> str:
    """Name a figure along an axis."""
    return capital(labelled(value))
