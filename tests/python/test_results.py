"""What pages say of experiments is drawn from the results that are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments import pages

DOCS = pages.DOCS
FILES = [page for page in sorted(DOCS.rglob("*.md")) if pages.BLOCK.search(page.read_text())]


@pytest.mark.parametrize("page", FILES, ids=lambda page: str(page.relative_to(DOCS)))
def test_blocks_of_pages_are_of_the_kept_results(page: Path) -> None:
    text = page.read_text()
    assert text == pages.with_results(text)


def test_no_block_of_results_is_without_an_end() -> None:
    for page in [DOCS.parent / "README.md", *DOCS.rglob("*.md")]:
        text = page.read_text()
        assert text.count("<!-- results: ") == len(pages.BLOCK.findall(text)), page


def test_pages_and_figures_of_results_alone_are_of_those_that_are_kept() -> None:
    files = dict(pages.whole())
    assert files
    assert {file: file.read_text() for file in files} == files
