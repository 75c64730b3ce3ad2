"""Figures of runs that can be chosen."""

from __future__ import annotations

from mptcplab._core import Error
from mptcplab.metrics import OF_RUNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.figures.choice import Choice


def chosen(choice: Choice, usual: str, *, more: tuple[str, ...] = ()) -> str:
    """Give the name of the figure that was chosen, or the kind's own."""
    value = choice.value or usual
    if value not in (*OF_RUNS, *more):
        raise Error(f"runs have no figure {value!r}; they have {', '.join((*OF_RUNS, *more))}")
    return value
