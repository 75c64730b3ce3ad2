"""What is wrong with a scenario, in one line."""

from __future__ import annotations

from difflib import get_close_matches

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# The way to a value: names of tables and keys, and places in lists.
Place = tuple[str | int, ...]


class ScenarioError(Error):
    """A scenario cannot be; says where and why."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Name the known word that was probably meant, or else all."""
    words = list(known)
    close = get_close_matches(word, words, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]}?"
    return f"known: {', '.join(words)}" if words else "there is none"
