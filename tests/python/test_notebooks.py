"""The teaching notebooks: what is stored is what stands in their files, and what they say holds."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"
FILES = sorted((DOCS / "notebooks").glob("*.py"))


@pytest.fixture(scope="module")
def notebooks() -> ModuleType:
    """The script that runs and stores them."""
    found = importlib.util.spec_from_file_location("notebooks", DOCS / "notebooks.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_there_are_some() -> None:
    assert len(FILES) == 6


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_is_stored_is_current_and_what_it_says_holds(
    notebooks: ModuleType, file: Path
) -> None:
    """Its assertions fail where a claim does not hold; pictures are not drawn again."""
    stored = json.loads(file.with_suffix(".ipynb").read_text("utf-8"))["cells"]
    ran = notebooks.document(notebooks.executed(file.read_text("utf-8"), draws=False))["cells"]
    assert [(cell["cell_type"], cell["source"]) for cell in stored] == [
        (cell["cell_type"], cell["source"]) for cell in ran
    ]
    for old, new in zip(stored, ran, strict=True):
        assert bool(old.get("outputs")) == bool(new.get("outputs"))
