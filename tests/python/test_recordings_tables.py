"""Tables of one's own: what stands between cells, commas in numbers, and which column is which."""

from __future__ import annotations

from pathlib import Path

import pytest

import mptcplab as lab
from mptcplab import Error


@pytest.mark.parametrize(("separator", "comma"), [(";", ","), ("\t", ","), (";", ".")])
def test_tables_of_spreadsheets_are_read(tmp_path: Path, separator: str, comma: str) -> None:
    own = "time,down_mbps,rtt_ms\n1700000000,12.5,40\n1700000001,,41.25\n"
    usual, other = tmp_path / "usual.csv", tmp_path / "other.csv"
    usual.write_text(own)
    other.write_text(own.replace(",", separator).replace(".", comma))
    a, b = (
        lab.import_links([f"a={file}"], out=tmp_path / file.stem).paths[0]
        for file in (usual, other)
    )
    assert a.measured == b.measured
    said = [note for note in (*a.odd, *b.odd) if "cells stand between" in note]
    note = f"other.csv: cells stand between {'semicolons' if separator == ';' else 'tabs'}"
    pointed = "; commas in numbers are decimal points" if comma == "," else ""
    assert said == [note + pointed]
    assert said[0] in b.odd
    # Thousands are not guessed.
    other.write_text(f"time{separator}down_mbps\n1700000000{separator}1.234,5\n")
    with pytest.raises(Error, match="line 2: down_mbps is '1.234,5': it must be a number"):
        lab.import_links(other, out=tmp_path / "no")


@pytest.mark.parametrize(
    "rows",
    [
        # Points are decimal elsewhere.
        ("down_kbps", "rtt_ms", "12,500", "40.5", "1,250", "41.25"),
        # Nothing tells; the comma of a pair of bands says nothing of rates.
        ("down_kbps", "band", "12,500", "3,7", "999", "3,7"),
        ("down_kbps", "rtt_ms", "12,500", "40", "1,250", ""),
        ("down_kbps", "rtt_ms", "12,500", "40", "1,250,000", "NA"),
    ],
)
@pytest.mark.parametrize("separator", [";", "\t"])
def test_commas_between_thousands_are_no_decimal_points(
    tmp_path: Path, separator: str, rows: tuple[str, ...]
) -> None:
    file = tmp_path / "a.csv"
    lines = zip(("time", "1700000000", "1700000001"), rows[::2], rows[1::2], strict=True)
    file.write_text("".join(f"{separator.join(line)}\n" for line in lines))
    with pytest.raises(Error, match="line 2: down_kbps is '12,500', and its comma may") as refused:
        lab.import_links(file, out=tmp_path / "made")
    assert str(refused.value).endswith("with decimal points, and with nothing between thousands")


def test_commas_of_columns_that_show_decimals_are_decimal_points(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    # What is not read may be anything.
    file.write_text("time;down_mbps;n\n1700000000;12,500;1,250\n1700000001;0,125;2,250\n")
    made = lab.import_links(file, out=tmp_path / "made")
    assert made.paths[0].traces == {"a-down-rate.csv": "ms,mbps\n0,12.5\n1000,0.125\n"}


@pytest.mark.parametrize("band", ["3,7", "3.7"])
def test_rows_are_chosen_by_cells_as_they_are_written(tmp_path: Path, band: str) -> None:
    file = tmp_path / "a.csv"
    file.write_text("time;down_mbps;band\n1700000000;1,5;3,7\n1700000001;2,5;3\n")
    made = lab.import_links(file, out=tmp_path / "made", where={"band": band})
    assert made.paths[0].measured[0].startswith("down: 1 row, 1.5 to 1.5 Mbit/s")


def test_commas_within_quotes_are_not_between_cells(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text('tim;"rate, x"\n1700000000;1,5\n1700000001;2,5\n')
    columns = {"time": "tim", "down_mbps": "rate, x"}
    made = lab.import_links(file, out=tmp_path / "made", columns=columns)
    assert made.paths[0].traces == {"a-down-rate.csv": "ms,mbps\n0,1.5\n1000,2.5\n"}


def test_columns_may_be_of_one_path(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("when,rx\n1700000000,1\n1700000001,2\n")
    (tmp_path / "b.csv").write_text("t,tx\n1700000000,3\n1700000001,4\n")
    files = [f"{name}={tmp_path / name}.csv" for name in "ab"]
    columns = {"time": "when", "down_mbps": "rx", "b/time": "t", "b/up_mbps": "tx"}
    made = lab.import_links(files, out=tmp_path / "made", columns=columns)
    assert [[one.partition(":")[0] for one in path.measured] for path in made.paths] == [
        ["down"],
        ["up"],
    ]
    with pytest.raises(Error, match="--column c/time: no file is given as c=FILE"):
        lab.import_links(files, out=tmp_path / "made", columns=columns | {"c/time": "t"})


def test_columns_of_one_path_go_over_those_of_all(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("when,rx\n1700000000,1\n1700000001,2\n")
    (tmp_path / "b.csv").write_text("when,rx,s,tx\n1700000000,1,0,3\n1700000001,2,2,4\n")
    files = [f"{name}={tmp_path / name}.csv" for name in "ab"]
    every = {"time": "when", "down_kbps": "rx"}
    made = lab.import_links(files, out=tmp_path / "made", columns=every | {"b/down_mbps": "tx"})
    assert [path.traces for path in made.paths] == [
        {"a-down-rate.csv": "ms,mbps\n0,0.001\n1000,0.002\n"},
        {"b-down-rate.csv": "ms,mbps\n0,3\n1000,4\n"},
    ]
    # Its times, too, and what is of all for the rest.
    columns = every | {"b/seconds": "s", "b/up_mbps": "tx"}
    made = lab.import_links(files[1:], out=tmp_path / "own", columns=columns)
    assert made.paths[0].traces == {
        "b-down-rate.csv": "ms,mbps\n0,0.001\n2000,0.002\n",
        "b-up-rate.csv": "ms,mbps\n0,3\n2000,4\n",
    }
