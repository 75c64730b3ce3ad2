"""Logs joined to runs by time, and the runs as they are then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mptcplab as lab
from command import Run
from mptcplab import Error

SCENARIO = {
    "schema": 1,
    "transfer": {"direction": "download", "size": "1 MB"},
    "path": {
        "wifi": {"rate": "8 Mbit/s", "delay": "10 ms"},
        "lte": {"rate": "4 Mbit/s", "delay": "25 ms"},
    },
}
BEGAN = "2026-11-25T12:00:00Z"
RADIO = """\
time,path,technology,rsrp_dbm
2026-11-25T11:59:49Z,lte,lte,-80
2026-11-25T12:00:00.25Z,lte,lte,-97
2026-11-25T13:00:00.5+01:00,wifi,wifi,
"""
GPX = """\
<gpx version="1.1"><trk><trkseg>
<trkpt lat="50.1" lon="6.1"><time>2026-11-25T12:00:00.5Z</time></trkpt>
<trkpt lat="50.2" lon="6.1"><time>2026-11-25T12:01:00Z</time></trkpt>
</trkseg></trk></gpx>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lab.run(SCENARIO, out=tmp_path / "runs")
    (tmp_path / "radio.csv").write_text(RADIO)
    (tmp_path / "drive.gpx").write_text(GPX)
    return tmp_path


def test_a_run_has_what_the_logs_say_of_its_time(folder: Path) -> None:
    before = lab.open_run(folder / "runs/mptcp")
    assert before.radio.is_empty()
    done = lab.annotate(
        folder / "runs", radio=folder / "radio.csv", positions=[folder / "drive.gpx"], began=BEGAN
    )
    assert [one.run.name for one in done] == ["mptcp", "tcp-wifi", "tcp-lte"]
    assert done[0].rows == {"radio": 2, "positions": 1}
    run = lab.open_run(folder / "runs/mptcp")
    start_ns = run.connections["start_ns"][0]
    assert run.radio.select("path", "at_s", "rsrp_dbm", "source").rows() == [
        ("lte", 0.25, -97.0, "radio.csv"),
        ("wifi", 0.5, None, "radio.csv"),
    ]
    assert (run.radio["at_ns"] - start_ns).to_list() == [250_000_000, 500_000_000]
    assert run.positions.select("latitude_deg", "at_s").rows() == [(50.1, 0.5)]
    (source,) = run.about["surroundings"]["radio"]
    duration_s = run.connections["duration_s"][0]
    assert (source["rows"], source["first_s"], source["last_s"]) == (2, 0.25, 0.5)
    assert source["longest_gap_s"] == pytest.approx(max(0.25, duration_s - 0.5))
    # All else is as it was.
    assert run.flows.equals(before.flows)
    assert run.about["sha256"] == before.about["sha256"]


def test_the_run_stays_the_same_run_and_logs_replace_themselves(folder: Path) -> None:
    for _ in range(2):
        lab.annotate(folder / "runs/mptcp", radio=folder / "radio.csv", began=BEGAN)
    lab.annotate(folder / "runs/mptcp", positions=folder / "drive.gpx", began=BEGAN)
    # It is there: nothing is run again, and what was joined is kept.
    run = lab.run(SCENARIO, out=folder / "runs").mptcp
    assert (run.radio.height, run.positions.height) == (2, 1)
    assert {name: len(one) for name, one in run.about["surroundings"].items()} == {
        "radio": 1,
        "positions": 1,
    }


def test_runs_from_before_there_were_such_tables_take_them(folder: Path) -> None:
    directory = folder / "runs/mptcp"
    for name in ("radio", "positions"):
        (directory / f"tables/{name}.parquet").unlink()
    lab.annotate(directory, positions=folder / "drive.gpx", began=BEGAN)
    run = lab.open_run(directory)
    assert (run.radio.height, run.positions.height) == (0, 1)


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"radio": "radio.csv"}, "no row of the logs is from the time of a run"),
        ({"radio": "radio.csv", "began": "noon"}, "when the run began: 'noon' is not a time"),
        ({"radio": "radio.csv", "time_zone": "Mars"}, "there is no time zone 'Mars'"),
        ({"radio": "other.csv", "began": BEGAN}, "the run has no path 'umts', only wifi, lte"),
        ({}, "no log was given"),
        ({"radio": "missing.csv"}, "cannot read"),
    ],
)
def test_what_does_not_fit_changes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], fault: str
) -> None:
    monkeypatch.chdir(folder)
    Path("other.csv").write_text(RADIO.replace("wifi", "umts"))
    before = {path: path.stat().st_mtime_ns for path in sorted(Path("runs").rglob("*"))}
    with pytest.raises(Error) as error:
        lab.annotate("runs", **settings)
    assert fault in str(error.value)
    assert {path: path.stat().st_mtime_ns for path in sorted(Path("runs").rglob("*"))} == before


def test_the_command(mptcplab: Run, folder: Path) -> None:
    arguments = ["annotate", folder / "runs/mptcp", "--began", BEGAN]
    done = mptcplab(
        *arguments, "--radio", folder / "radio.csv", "--positions", folder / "drive.gpx"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("mptcp: 2 rows of radio, 1 row of positions\n")
    (folder / "radio.csv").write_text("time,path,rsrp_dbm\n2026-11-25T12:00:00Z,lte,12\n")
    done = mptcplab(*arguments, "--radio", folder / "radio.csv")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "radio.csv, line 2: rsrp_dbm is 12" in done.stderr
    about = json.loads((folder / "runs/mptcp/run.json").read_text())
    assert about["surroundings"]["radio"][0]["rows"] == 2
