"""A figure of a kind, from a place."""

from __future__ import annotations

from mptcplab.figures.paper import COLUMN_INCHES, Paper, styled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.figures.choice import Choice
    from mptcplab.figures.registry import Kind


def drawn(
    kind: Kind, place: Any, choice: Choice, *, size: tuple[float, float] | None, title: str | None
) -> Paper:
    """Draw it."""
    choice.check(kind)
    with styled():
        paper = Paper(size or COLUMN_INCHES)
        paper.caption = kind.draw(paper, place, choice)
        if title is not None:
            paper.suptitle(title)
    return paper
