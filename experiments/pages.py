"""What the documentation holds of kept results: blocks of pages, and pages and figures that are nothing else.

What stands between ``<!-- results: NAME -->`` and ``<!-- end -->`` are the tables of an experiment; ``<!-- results: NAME PART -->``
asks for one of several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from experiments.laws import figures
from experiments.study import today

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(
    r"(<!-- results: (\w+)(?: (\w+))? -->\n).*?(^<!-- end -->$)", re.DOTALL | re.MULTILINE
)


def whole() -> Iterator[tuple[Path, str]]:
    """Give every file that is made of kept results alone, as it should be."""
    for name, picture in figures.drawings().items():
        yield DOCS / name, picture
    for paper in today.PAPERS:
        yield DOCS / f"papers/{paper}.md", today.page(paper)


def with_results(text: str) -> str:
    """Give a page with its blocks as they should be."""
    return BLOCK.sub(lambda match: match[1] + _drawn(match[2], match[3]) + match[4], text)


def _drawn(experiment: str, part: str | None) -> str:
    """Draw the tables of an experiment, or one part."""
    table = import_module(f"experiments.{experiment}.table")
    markdown: str = table.markdown(part) if part else table.markdown()
    return f"\n{markdown}\n"
