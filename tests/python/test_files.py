"""Tables written as CSV and Parquet: complete or absent."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from command import Run
from mptcplab import Error, _core
from mptcplab.cli import directory


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_every_table_is_written(
    mptcplab: Run, download: list[str], tmp_path: Path, kind: str
) -> None:
    target = tmp_path / "tables"
    done = mptcplab("analyze", f"--{kind}", target, *download)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
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


def test_an_earlier_result_is_replaced(mptcplab: Run, download: list[str], tmp_path: Path) -> None:
    target = tmp_path / "tables"
    target.mkdir()
    (target / "old.csv").touch()
    assert mptcplab("analyze", "--csv", target, *download).returncode == 0
    assert not (target / "old.csv").exists()


def test_other_files_are_left_alone(mptcplab: Run, download: list[str], tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    done = mptcplab("analyze", "--csv", tmp_path, *download)
    assert done.returncode == 2
    assert "thesis.tex" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_one_directory_is_not_enough_for_two_kinds(
    mptcplab: Run, download: list[str], tmp_path: Path
) -> None:
    place = tmp_path / "tables"
    done = mptcplab("analyze", "--csv", place, "--parquet", f"{place}/", *download)
    assert done.returncode == 2
    assert "a directory each" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with directory.written(str(tmp_path / "tables"), ".csv") as target:
            (target / "half.csv").touch()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(Error, match="cannot write"),
        directory.written(str(tmp_path / "file" / "tables"), ".csv"),
    ):
        pass
