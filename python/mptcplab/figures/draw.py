"""A figure of a kind, from a place."""

from __future__ import annotations

import warnings

from mptcplab._core import Error
from mptcplab.figures.paper import COLUMN_INCHES, Paper, styled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.figures.choice import Choice
    from mptcplab.figures.registry import Kind


def drawn(
    kind: Kind,
    place: Any,
    choice: Choice,
    *,
    size: tuple[float, float] | None = None,
    title: str | None = None,
) -> Paper:
    """Draw it."""
    choice.check(kind)
    paper = Paper(size or COLUMN_INCHES)
    with styled(), warnings.catch_warnings():
        warnings.filterwarnings("error", "constrained_layout not applied")
        try:
            paper.caption = kind.draw(paper, place, choice)
            if title is not None:
                paper.suptitle(title)
            paper.draw_without_rendering()
        except UserWarning:
            width, height = paper.get_size_inches()
            raise Error(f"{width:.3g} by {height:.3g} inches are too small for it") from None
    return paper
