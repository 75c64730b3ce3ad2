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
    said = [note for note in (*a.odd, *b.odd) if "commas in numbers are decimal points" in note]
    assert said == [note for note in b.odd if note.startswith("other.csv: cells stand between ")]
    assert len(said) == 1
    # Thousands are not guessed.
    other.write_text(f"time{separator}down_mbps\n1700000000{separator}1.234,5\n")
    with pytest.raises(Error, match="line 2: down_mbps is '1.234,5': it must be a number"):
        lab.import_links(other, out=tmp_path / "no")


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
