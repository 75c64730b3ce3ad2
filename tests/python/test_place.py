"""Run directories: one writer each, complete or absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from mptcplab import Error
from mptcplab.engine.place import UNFINISHED, is_taken, written


def test_a_place_has_one_writer(tmp_path: Path) -> None:
    target = tmp_path / "runs" / "one"
    with written(target) as new:
        (new / "file").write_text("mine")
        assert is_taken(target)
        with pytest.raises(Error, match="one is being written by somebody else"), written(target):
            pass
        with written(target.with_name("two")) as other:
            (other / "file").write_text("another's")
    assert (target / "file").read_text() == "mine"
    assert sorted(path.name for path in target.parent.iterdir()) == ["one", "two"]


def test_what_the_dead_left_is_no_hindrance(tmp_path: Path) -> None:
    left = tmp_path / f"{UNFINISHED}one"
    left.mkdir()
    (left / "file").write_text("half")
    target = tmp_path / "one"
    assert not is_taken(target)
    with written(target) as new:
        assert list(new.iterdir()) == []
    assert is_taken(target)
    assert list(tmp_path.iterdir()) == [target]


def test_nothing_is_left_of_what_failed(tmp_path: Path) -> None:
    target = tmp_path / "runs" / "one"

    def fail() -> None:
        with written(target) as new:
            (new / "file").write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []
    assert not is_taken(target)
