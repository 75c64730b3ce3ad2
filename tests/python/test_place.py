"""Run directories: one writer each, complete or absent."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mptcplab import Error
from mptcplab.campaign import store
from mptcplab.writing import UNFINISHED, directory, files, is_taken, sweep, write_whole


def test_a_place_has_one_writer(tmp_path: Path) -> None:
    target = tmp_path / "runs" / "one"
    with directory(target) as new:
        (new / "file").write_text("mine")
        assert is_taken(target)
        with pytest.raises(Error, match="one is being written by somebody else"), directory(target):
            pass
        with directory(target.with_name("two")) as other:
            (other / "file").write_text("another's")
    assert (target / "file").read_text() == "mine"
    assert sorted(path.name for path in target.parent.iterdir()) == ["one", "two"]


def test_what_the_dead_left_is_no_hindrance(tmp_path: Path) -> None:
    left = tmp_path / f"{UNFINISHED}one"
    left.mkdir()
    (left / "file").write_text("half")
    target = tmp_path / "one"
    assert not is_taken(target)
    with directory(target) as new:
        assert list(new.iterdir()) == []
    assert is_taken(target)
    assert list(tmp_path.iterdir()) == [target]


def test_nothing_is_left_of_what_failed(tmp_path: Path) -> None:
    target = tmp_path / "runs" / "one"

    def fail() -> None:
        with directory(target) as new:
            (new / "file").write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []
    assert not is_taken(target)


def _plant(left: Path, mine: Path) -> None:
    """Lay links to a file of ours where a run of ours would write."""
    left.mkdir(mode=0o777)
    (left / "file").symlink_to(mine)


@pytest.mark.parametrize("empty", [False, True])
def test_a_directory_of_another_user_is_not_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty: bool
) -> None:
    mine = tmp_path / "mine"
    mine.write_text("precious")
    target = tmp_path / "runs" / "one"
    target.parent.mkdir()
    left = target.parent / f"{UNFINISHED}one"
    left.mkdir() if empty else _plant(left, mine)
    before = sorted(left.iterdir())
    # Whoever made it is another user now.
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(Error, match="not a directory of your own"), directory(target) as new:
        (new / "file").write_text("run")
    sweep(target.parent)
    assert sorted(left.iterdir()) == before
    assert is_taken(target)
    assert mine.read_text() == "precious"


def test_a_link_to_a_directory_is_not_taken_over(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target = tmp_path / "one"
    (tmp_path / f"{UNFINISHED}one").symlink_to(elsewhere)
    with pytest.raises(Error, match="not a directory of your own"), directory(target):
        pass
    assert list(elsewhere.iterdir()) == []


def test_nobody_else_reads_what_is_unfinished(tmp_path: Path) -> None:
    target = tmp_path / "one"
    (tmp_path / f"{UNFINISHED}one").mkdir(mode=0o755)
    with directory(target) as new:
        assert new.stat().st_mode & 0o777 == 0o700
    before = os.umask(0o027)
    try:
        with directory(tmp_path / "two"):
            pass
        assert (tmp_path / "two").stat().st_mode & 0o777 == 0o750
    finally:
        os.umask(before)


def test_a_link_in_the_place_of_a_new_file_is_not_followed(tmp_path: Path) -> None:
    mine, page = tmp_path / "mine", tmp_path / "page.html"
    mine.write_text("precious")
    page.write_text("old")
    page.chmod(0o640)
    # What earlier versions wrote to first.
    (tmp_path / f".page.html-{os.getpid()}").symlink_to(mine)
    write_whole(page, b"new")
    assert (mine.read_text(), page.read_text()) == ("precious", "new")
    assert page.stat().st_mode & 0o777 == 0o640


class _Disk:
    """Notes what is known to be on the disk when something that was there before goes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._synced: set[int] = set()
        self.unsafe: list[str] = []
        self.gone = 0
        fsync, rename, rmtree = os.fsync, os.replace, shutil.rmtree

        def synced(handle: int) -> None:
            fsync(handle)
            self._synced.add(os.fstat(handle).st_ino)

        def renamed(source: Path, target: Path) -> None:
            if Path(target).exists():
                self._look(Path(source))
            rename(source, target)

        def removed(path: Path, *rest: object, **more: object) -> None:
            if self.watched is not None and self.watched(Path(path)):
                self._look(self.new)
            rmtree(path, *rest, **more)  # type: ignore[arg-type]

        self.watched: Callable[[Path], bool] | None = None
        self.new = Path()
        monkeypatch.setattr(os, "fsync", synced)
        monkeypatch.setattr(os, "replace", renamed)
        monkeypatch.setattr(shutil, "rmtree", removed)

    def _look(self, new: Path) -> None:
        self.gone += 1
        within = [new, *new.rglob("*"), *([new.parent] if new.is_dir() else [])]
        self.unsafe += [str(one) for one in within if one.stat().st_ino not in self._synced]


def test_an_old_run_goes_when_the_new_one_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "one"
    disk = _Disk(monkeypatch)
    disk.new, disk.watched = target, lambda path: path.name.startswith(UNFINISHED)
    for content in ("old", "new"):
        with directory(target) as new:
            (new / "tables").mkdir()
            (new / "tables" / "file").write_text(content)
    assert (target / "tables" / "file").read_text() == "new"
    assert (disk.gone, disk.unsafe) == (1, [])


def test_merged_shards_go_when_the_merged_one_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import polars as pl

    monkeypatch.setattr(store, "MERGED", 2)
    disk = _Disk(monkeypatch)
    shards = tmp_path / "shards"
    disk.new, disk.watched = shards / "0-1", lambda path: path.parent == shards
    kept = store.Store(tmp_path)
    for run in ("a", "b"):
        tables = {}
        for name, more in (("runs", {"finished": [True]}), ("costs", {"seconds": [1.0]})):
            file = tmp_path / "table"
            pl.DataFrame({"run": [run], **more}).write_parquet(file)
            tables[name] = file.read_bytes()
        kept.add(tables, {run: 1.0})
    kept.tidy()
    assert [path.name for path in shards.iterdir()] == ["0-1"]
    assert (disk.gone, disk.unsafe) == (2, [])


def test_files_are_replaced_by_what_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = _Disk(monkeypatch)
    for content in ("old", "new"):
        write_whole(tmp_path / "page.html", content.encode())
        with files(tmp_path) as new:
            (new / "flows.csv").write_text(content)
    assert (disk.gone, disk.unsafe) == (2, [])
    assert {path.read_text() for path in tmp_path.iterdir()} == {"new"}
