"""The interface for Python programs."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import mptcplab
from captures import ACK, Segment, write
from mptcplab import _core

TYPES = {
    "bool": pl.Boolean,
    "f64": pl.Float64,
    "i64": pl.Int64,
    "text": pl.String,
    "u32": pl.UInt32,
    "u64": pl.UInt64,
}


@pytest.fixture(scope="module")
def analysis(download: list[str]) -> mptcplab.Analysis:
    return mptcplab.analyze(download)


@pytest.mark.parametrize(
    ("name", "columns"), [(name, columns) for name, _, columns in _core.columns()]
)
def test_frames_are_as_the_reference_says(
    analysis: mptcplab.Analysis, name: str, columns: list[Any]
) -> None:
    frame = getattr(analysis, name)
    assert frame.schema == {column: TYPES[kind] for column, kind, *_ in columns}
    never_empty = [column for column, _, may_be_empty, _, _ in columns if not may_be_empty]
    assert not any(frame.select(never_empty).null_count().row(0))


def test_samples_fill_the_sample_tables(analysis: mptcplab.Analysis, download: list[str]) -> None:
    assert analysis.rtt.height == analysis.flows["rtt_samples"].sum()
    without = mptcplab.analyze(download, samples=False)
    assert without.segments.is_empty()
    assert without.rtt.is_empty()
    assert without.reordering.is_empty()
    assert without.window.is_empty()
    assert without.flows.equals(analysis.flows)
    assert without.distributions.equals(analysis.distributions)
    assert not without.throughput.is_empty()


def test_bins_hold_all_bytes(download: list[str], analysis: mptcplab.Analysis) -> None:
    for seconds in (0.1, 1.0):
        throughput = mptcplab.analyze(download, bin_seconds=seconds, samples=False).throughput
        whole = throughput.filter(pl.col("subflow").is_null(), pl.col("direction") == "down")
        assert whole["bytes"].sum() == 4_000_000


def test_frames_are_made_once(analysis: mptcplab.Analysis) -> None:
    assert analysis.connections is analysis.connections


def test_a_single_path_and_path_objects(download: list[str]) -> None:
    as_text = mptcplab.analyze(download[0]).flows
    assert mptcplab.analyze(Path(download[0])).flows.equals(as_text)
    assert mptcplab.analyze(iter(download[:1])).flows.equals(as_text)


def test_json_is_what_the_command_prints(analysis: mptcplab.Analysis) -> None:
    document = json.loads(analysis.json())
    flows = analysis.flows.filter(pl.col("direction") == "down")
    subflows = document["connections"][0]["subflows"]
    assert [subflow["flows"]["down"]["bytes"] for subflow in subflows] == flows["bytes"].to_list()


def test_rows_agree_with_frames(analysis: mptcplab.Analysis) -> None:
    for name in ("connections", "transfers", "subflows", "flows", "events"):
        assert list(analysis._tables.rows(name)) == getattr(analysis, name).to_dicts()


def test_rows_of_one_connection_and_some_columns(analysis: mptcplab.Analysis) -> None:
    tables = analysis._tables
    assert list(tables.rows("flows", connection=0)) == list(tables.rows("flows"))
    assert list(tables.rows("flows", connection=1)) == []
    assert [list(row) for row in tables.rows("connections", columns=["ended"])] == [["ended"]]
    with pytest.raises(KeyError, match="no column colour"):
        tables.rows("connections", columns=["colour"])
    with pytest.raises(KeyError, match="no table tables"):
        tables.table("tables")


@pytest.mark.parametrize("name", ["bin_seconds", "smoothing_seconds", "trim_seconds"])
def test_arguments_that_cannot_be(name: str, download: list[str]) -> None:
    for value in (-1.0, float("nan"), float("inf")):
        with pytest.raises(mptcplab.Error, match=name):
            mptcplab.analyze(download, **{name: value})  # type: ignore[arg-type]


def test_no_captures() -> None:
    with pytest.raises(mptcplab.Error, match="no capture"):
        mptcplab.analyze([])


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        (None, "not NoneType"),
        (7, "not int"),
        (b"x.pcap", "not bytes"),
        (["x.pcap", None], "one of them is NoneType"),
        ([b"x.pcap"], "one of them is bytes"),
    ],
)
def test_what_is_no_path(paths: Any, said: str) -> None:
    with pytest.raises(TypeError, match=f"^paths must be a path .*{said}$"):
        mptcplab.analyze(paths)


def test_an_empty_name() -> None:
    with pytest.raises(mptcplab.Error, match="is empty"):
        mptcplab.analyze("")


def test_unreadable_captures() -> None:
    with pytest.raises(mptcplab.CaptureError, match="nowhere.pcap: there is no such file"):
        mptcplab.analyze("nowhere.pcap")


def test_all_errors_share_a_base() -> None:
    for kind in (mptcplab.CaptureError, mptcplab.InternalError):
        assert issubclass(kind, mptcplab.Error)
        assert kind.__module__ == "mptcplab"


def test_an_error_in_progress_ends_the_analysis(bulk: str) -> None:
    def stop(done: int, total: int | None) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        mptcplab.analyze(bulk, progress=stop)


def test_control_c_ends_the_analysis(bulk: str) -> None:
    def interrupt(done: int, total: int | None) -> None:
        signal.raise_signal(signal.SIGINT)

    # What runs in the background ignores the signal unless told otherwise.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            mptcplab.analyze(bulk, progress=interrupt)
    finally:
        signal.signal(signal.SIGINT, before)


def test_progress_grows_to_the_end(bulk: str) -> None:
    seen: list[tuple[int, int | None]] = []
    mptcplab.analyze(bulk, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    size = Path(bulk).stat().st_size
    assert all(done <= size == total for done, total in seen)


@pytest.fixture(scope="module")
def bulk(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A pcap of 200 000 empty TCP segments: long enough for several strides."""
    path = tmp_path_factory.mktemp("bulk") / "bulk.pcap"
    write(path, [Segment(0, 1000, ACK)] * 200_000)
    return str(path)


def test_the_study_runs_from_python(tmp_path: Path) -> None:
    campaigns: list[tuple[str, int]] = []
    results = mptcplab.run_study(
        "ssthresh-cache",
        out=tmp_path,
        quick=True,
        begin=lambda name, runs: campaigns.append((name, runs)),
    )
    (experiment,) = results["experiments"]
    assert experiment["failed"] == 0
    assert campaigns == [("ssthresh-cache/main", experiment["runs"])]
    assert json.loads((tmp_path / "results.json").read_text()) == json.loads(json.dumps(results))


@pytest.mark.parametrize(
    ("name", "settings", "complaint"),
    [
        ("eight-subflow", {}, "did you mean eight-subflows"),
        (
            "eight-subflows",
            {"engine": "ns3"},
            "there is no engine ns3; known: simulation, kernel, field",
        ),
        ("eight-subflows", {"era": "1999"}, "there is no era 1999"),
        ("eight-subflows", {"engine": "kernel", "era": "current"}, "goes with the simulation"),
    ],
)
def test_a_study_that_cannot_be_is_refused(
    name: str, settings: dict[str, Any], complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(mptcplab.Error, match=complaint):
        mptcplab.run_study(name, out=tmp_path / "study", **settings)
    assert not (tmp_path / "study").exists()
