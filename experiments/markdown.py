"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Give the lines of a table."""
    yield line(heads)
    yield "|---" * len(heads) + "|"
    yield from map(line, rows)


def line(cells: Sequence[str]) -> str:
    """Give a row of a table."""
    return f"| {' | '.join(cells)} |"
