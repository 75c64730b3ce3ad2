"""Files that are written: complete or absent."""

from __future__ import annotations

import csv
import os
import resource
from pathlib import Path

import pytest

from command import Run
from mptcplab import Error, _core
from mptcplab.writing import files, write_whole


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_every_table_is_written(
    mptcplab: Run, download: list[str], tmp_path: Path, kind: str
) -> None:
    target = tmp_path / "tables"
    done = mptcplab("analyze", f"--{kind}", target, *download)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"wrote {len(_core.Tables.NAMES)} tables to {target}\n"
    assert {path.stem for path in target.iterdir()} == set(_core.Tables.NAMES)
    assert [path.name for path in tmp_path.iterdir()] == ["tables"]


def test_csv_and_parquet_hold_the_same(mptcplab: Run, download: list[str], tmp_path: Path) -> None:
    import polars as pl

    mptcplab("analyze", "--csv", tmp_path / "c", "--parquet", tmp_path / "p", *download)
    for name in _core.Tables.NAMES:
        parquet = pl.read_parquet(tmp_path / "p" / f"{name}.parquet")
        with (tmp_path / "c" / f"{name}.csv").open(newline="") as file:
            header, *rows = csv.reader(file)
        assert header == parquet.columns
        assert len(rows) == parquet.height
        empty = [sum(row[column] == "" for row in rows) for column in range(len(header))]
        assert empty == list(parquet.null_count().row(0))


def test_both_kinds_stand_side_by_side_with_other_files(
    mptcplab: Run, refused: str, tmp_path: Path
) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    (tmp_path / "flows.csv").write_text("old")
    tmp_path.chmod(0o750)
    assert mptcplab("analyze", "--csv", ".", refused, cwd=tmp_path).returncode == 0
    assert mptcplab("analyze", "--parquet", ".", refused, cwd=tmp_path).returncode == 0
    tables = {f"{name}.{kind}" for name in _core.Tables.NAMES for kind in ("csv", "parquet")}
    assert {path.name for path in tmp_path.iterdir()} == tables | {"thesis.tex"}
    assert (tmp_path / "thesis.tex").read_text() == "mine"
    assert (tmp_path / "flows.csv").read_text() != "old"
    assert tmp_path.stat().st_mode & 0o777 == 0o750


def test_one_directory_takes_both_kinds_at_once_through_a_link(
    mptcplab: Run, refused: str, tmp_path: Path
) -> None:
    directory, link = tmp_path / "tables", tmp_path / "link"
    directory.mkdir()
    link.symlink_to(directory)
    assert mptcplab("analyze", "--csv", link, "--parquet", link, refused).returncode == 0
    assert link.is_symlink()
    assert len(list(directory.iterdir())) == 2 * len(_core.Tables.NAMES)


def test_a_failure_leaves_nothing_and_earlier_files_as_they_were(tmp_path: Path) -> None:
    def fail(directory: Path) -> None:
        with files(directory) as target:
            (target / "flows.csv").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail(tmp_path / "above" / "tables")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "flows.csv").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        fail(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["flows.csv"]
    assert (tmp_path / "flows.csv").read_text() == "old"


def test_a_place_that_cannot_be_written_is_an_error_of_ours(
    mptcplab: Run, refused: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    for name in ("file", "file/tables", "dangling", "dangling/tables"):
        with pytest.raises(Error, match="cannot write"), files(tmp_path / name):
            pass
        done = mptcplab("analyze", "--csv", tmp_path / name, refused)
        assert done.returncode == 2
        assert "cannot write" in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_the_disk_does_not_hold_is_an_error_and_leaves_nothing(
    mptcplab: Run, download: list[str], tmp_path: Path, kind: str
) -> None:
    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

    arguments = ("analyze", f"--{kind}", "out", *download)
    done = mptcplab(*arguments, cwd=tmp_path, preexec_fn=little_room)
    assert done.returncode == 2
    assert done.stderr == "mptcplab: cannot write out: File too large\n"
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(pipe, b"a page")
        assert pipe.is_fifo()
        assert os.read(reader, 100) == b"a page"
    finally:
        os.close(reader)


def test_a_link_leads_to_the_file_that_is_written(tmp_path: Path) -> None:
    link, file = tmp_path / "link", tmp_path / "file"
    link.symlink_to(file)
    for content in (b"a page", b"another"):
        write_whole(link, content)
        assert link.is_symlink()
        assert file.read_bytes() == content
    assert sorted(tmp_path.iterdir()) == [file, link]
