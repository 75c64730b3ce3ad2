"""Files of other tools beside captures and each other: one page, one line where they are bad."""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path

import polars as pl
import pytest

import mptcplab as package
from command import Run
from described import described
from mptcplab import Error, analyze
from mptcplab.charts.several import describe
from mptcplab.sources import formats
from tools import DRIVE, TOOLS, document, tool

# What iperf 3.12 wrote.
REFUSED = """{
\t"start":\t{
\t\t"connected":\t[],
\t\t"version":\t"iperf 3.12",
\t\t"system_info": "Linux"
\t},
\t"intervals":\t[],
\t"end":\t{
\t},
\t"error":\t"unable to connect to server: Connection refused"
}
"""
SS = "State Recv-Q Send-Q Local Address:Port\n"
DOCS = Path(__file__).parents[2] / "docs"


def test_one_directory_is_one_page(tmp_path: Path, mptcplab: Run) -> None:
    for name in ("carrier.csv", "dish.csv"):
        (tmp_path / name).write_text(DRIVE)
    for name in ("quic-client.qlog.gz", "iperf3-upload.json"):
        (tmp_path / name).write_bytes((TOOLS / name).read_bytes())
    done = mptcplab("report", tmp_path)
    assert (done.stdout, done.stderr) == (f"{tmp_path / 'report.html'}\n", "")
    page = described(tmp_path / "report.html")
    names = [one["name"] for one in page["subflows"]]
    assert [name.partition(",")[0] for name in names] == [
        "carrier.csv",
        "dish.csv",
        "iperf3-upload.json",
        "iperf3-upload.json",
        "quic-client.qlog.gz",
    ]
    charts = {one["id"]: one for one in page["charts"]}
    assert [one["name"] for one in charts["throughput"]["series"]] == names
    smoothed = [f"{name} (smoothed)" for name in names if name.startswith("iperf3")]
    assert [one["name"] for one in charts["rtt"]["series"]] == smoothed
    (table,) = page["tables"]
    assert [cells[0] for cells in table["rows"]] == names
    for name in ("my1.csv", "my2.csv", "my3.csv", "my4.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    # The page itself is not named.
    assert mptcplab("report", tmp_path, "--out", tmp_path / "page").stderr == (
        f"mptcplab: not on the page: my1.csv, my2.csv, my3.csv and 1 more in {tmp_path}: no "
        "captures by their names, and of no tool that is known (mptcplab analyze --sources lists "
        "those)\n"
    )


def test_streams_of_one_file_are_laid_over_each_other_unless_one_is_chosen(tmp_path: Path) -> None:
    streams = package.write_report(TOOLS / "iperf3-upload.json", tmp_path / "streams.html")
    names = [one["name"] for one in described(streams)["subflows"]]
    ports = analyze(TOOLS / "iperf3-upload.json").connections["client_port"]
    assert names == [f"iperf3-upload.json, port {port}" for port in ports]
    # Of each, and of the file: none is said twice.
    first, second = described(streams)["provenance"]["remarks"]
    assert first.startswith("iperf3 at the sender counts what it gave to its socket")
    assert second.startswith("iperf3 gives the beginning of a test in whole seconds")
    files = [TOOLS / "iperf3-upload.json", TOOLS / "quic-client.qlog.gz"]
    one = package.write_report(analyze(files), tmp_path / "one.html", connection=2)
    assert "from qlog" in [badge["text"] for badge in described(one)["badges"]]


def test_what_was_measured_at_one_time_is_laid_over_each_other_by_the_clock(tmp_path: Path) -> None:
    (tmp_path / "first.csv").write_text(DRIVE)
    late = DRIVE.splitlines()
    (tmp_path / "second.csv").write_text("\n".join([late[0], *late[2:]]))
    parts = analyze([tmp_path / "first.csv", tmp_path / "second.csv"]).parts
    starts = [one.x[0] for one in describe(parts).charts[0].series]
    assert starts == [0.0, 1.0]
    # An hour later they are laid over each other at their beginnings.
    (tmp_path / "second.csv").write_text(DRIVE.replace(" 20:", " 21:"))
    parts = analyze([tmp_path / "first.csv", tmp_path / "second.csv"]).parts
    assert [one.x[0] for one in describe(parts).charts[0].series] == [0.0, 0.0]


def test_each_time_has_its_clock_and_the_page_tells_what_limits_trust(tmp_path: Path) -> None:
    (tmp_path / "first.csv").write_text(DRIVE)
    late = DRIVE.splitlines()
    (tmp_path / "second.csv").write_text("\n".join([late[0], *late[2:]]))
    assert describe(analyze([tmp_path / "first.csv", tmp_path / "second.csv"]).parts).subtitle == (
        "laid over each other by their clocks, from the first packet of all"
    )
    for name in ("first", "second"):
        drive = (tmp_path / f"{name}.csv").read_text()
        (tmp_path / f"{name}-later.csv").write_text(drive.replace(" 20:", " 21:"))
    hours = describe(analyze(sorted(tmp_path.glob("*.csv"))).parts)
    assert [one.x[0] for one in hours.charts[0].series] == [0.0, 0.0, 1.0, 1.0]
    assert hours.subtitle.endswith(
        "those of one time by their clocks, from the first packet of each time"
    )
    files = [tmp_path / "first.csv", tmp_path / "second.csv", TOOLS / "iperf3-download.json"]
    page = describe(analyze(files).parts)
    assert [one.x[0] for one in page.charts[0].series] == [0.0, 1.0, 0.0]
    assert page.subtitle.startswith("laid over each other, those of one time by their clocks, ")
    assert page.time == "seconds from the first packet of each time"
    drives, iperf3 = page.provenance.remarks
    assert drives.startswith("first.csv and 1 more: rates are a UDP throughput, which is capacity ")
    assert iperf3.startswith("iperf3-download.json: iperf3 gives the beginning of a test in ")


def test_captures_and_files_are_numbered_and_timed_together() -> None:
    names = ["client.pcapng.gz", "ss.log", "quic-client.qlog.gz"]
    found = analyze([TOOLS / name for name in names])
    assert found.connections["connection"].to_list() == list(range(2 + 3 + 1))
    assert [name for name, _ in found.parts] == ["captures", *names[1:]]
    starts = found.connections.select(pl.col("start_ns") / 1e9 - pl.col("start_s")).to_series()
    assert starts.to_list() == pytest.approx([starts[0]] * 6)
    alone = tool("quic-client.qlog.gz")
    assert found.parts[2][1].reordering["bytes"].equals(alone.reordering["bytes"])
    assert set(found.rtt["connection"]) >= {5}
    only = analyze([TOOLS / name for name in names], filter_by="protocol=quic")
    assert only.connections["connection"].to_list() == [5]
    captures = [TOOLS / "client.pcapng.gz"]
    assert analyze(captures).parts == []


def test_a_capture_and_a_file_are_compared() -> None:
    found = package.compare(TOOLS / "client.pcapng.gz", TOOLS / "iperf3-download.json")
    values = {
        one.figure: (one.a, one.b)
        for one in found.figures
        if one.direction == "down" and one.subflow is None
    }
    assert values["bytes"] == (655_360, 655_360)
    assert values["loss_rate_percent"] == (None, None)


def test_every_output_has_them(tmp_path: Path, mptcplab: Run) -> None:
    file = TOOLS / "iperf3-upload.json"
    summary = mptcplab("analyze", file)
    assert "plain TCP · " in summary.stdout
    assert "as iperf3 at the client tells" in summary.stdout
    assert summary.stdout.count("smoothed RTT at the sender ") == 2
    assert summary.stderr == ""
    rows = json.loads(mptcplab("analyze", "--json", "--connection", 1, file).stdout)
    assert [one["connection"] for one in rows["connections"]] == [1]
    done = mptcplab("analyze", "--csv", tmp_path / "csv", "--parquet", tmp_path / "parquet", file)
    assert done.returncode == 0, done.stderr
    state = pl.read_parquet(tmp_path / "parquet" / "state.parquet")
    assert state.equals(tool("iperf3-upload.json").state)
    assert len(pl.read_csv(tmp_path / "csv" / "state.csv")) == len(state)
    page = tmp_path / "page.html"
    assert mptcplab("analyze", "--report", page, "--connection", 0, file).returncode == 0
    drawn = described(page)
    assert "Smoothed round-trip time" in [one["title"] for one in drawn["charts"]]
    assert "from iperf3" in [one["text"] for one in drawn["badges"]]
    listed = mptcplab("analyze", "--sources").stdout
    assert all(f"\n{name}: " in f"\n{listed}" for name in formats.sources())


def traces(*given: object) -> str:
    return json.dumps({"qlog_version": "0.3", "traces": given})


def qlog_at(*times: object) -> str:
    """Log packets with a byte each."""
    events = [
        {"time": time, "name": "transport:packet_received"}
        | {
            "data": {
                "frames": [{"frame_type": "stream", "stream_id": 0, "offset": at, "length": 1}]
            }
        }
        for at, time in enumerate(times)
    ]
    return traces({"vantage_point": {"type": "client"}, "events": events})


def cut_in_the_middle(name: str) -> str:
    text = json.dumps(document(name), indent=1)
    return text[: len(text) // 2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a line\n", " is neither pcap nor pcapng, nor of a tool that is known: "),
        (
            cut_in_the_middle("iperf3-upload.json"),
            r", line \d+: is not complete JSON: was iperf3 interrupted\?",
        ),
        (
            '{"event":"error","data":"unable to connect to server"}\n{"event":"end","data":{}}\n',
            ": iperf3 says: unable to connect to server",
        ),
        (REFUSED, ": iperf3 says: unable to connect to server"),
        ('{"start": {"version": "iperf 3.12"}, "intervals": []}', ": iperf3 says: no interval was"),
        (
            '{"start": {"version": "iperf 3.12", "connected": [{"socket": 5}]}, "intervals": [{}]}',
            " is not as iperf3 writes it: has no 'test_start'",
        ),
        (
            cut_in_the_middle("quic-client.qlog.gz"),
            r", line \d+: is not complete JSON .*JSON-SEQ survives",
        ),
        (
            traces({"vantage_point": {"type": "client"}, "events": [[0]]}),
            ", line 1: events are lists, as before version 0.3",
        ),
        (
            traces({"vantage_point": {"type": "network"}, "events": []}),
            ": was logged at network: only logs of a client or a server",
        ),
        (traces(), ": holds no packet of a connection"),
        (qlog_at(0, 1e30), r": the time of event 2 is 1e\+30: it must be a number of 0 or more"),
        (qlog_at(0, 1e9 + 1), r": a connection cannot last 1000000.001 s \(at most 1000000 s\)"),
        (qlog_at(0, 2e9), r": a connection cannot last 2000000 s \(at most 1000000 s\): a time is"),
        (qlog_at(0, -3), ": the time of event 2 is -3: it must be a number of 0 or more"),
        (qlog_at(0, "1" * 5000), ': the time of event 2 is "1{39}…: it must be a number of 0 or'),
        (qlog_at(0, True), ": the time of event 2 is true: it must be a number of 0 or more"),
        (qlog_at(0, math.nan), ": the time of event 2 is NaN: it must be a number of 0 or more"),
        (qlog_at(0, math.inf), ": the time of event 2 is Infinity: it must be a number of 0 or"),
        (qlog_at([]), r": the time of event 1 is \[\]: it must be a number of 0 or more"),
        (
            '\x1e{"qlog_version": "0.3", "qlog_format": "JSON-SEQ"}\n\x1enothing\n\x1e{}\n',
            ", line 2: is no record",
        ),
        (
            f"{SS}ESTAB 0 0 1.2.3.4:5 1.2.3.4:6\n\t cubic cwnd:1\n{SS}",
            ", line 4: has no time between two samples",
        ),
        (
            "[       CREATED] token=c4b98d4b saddr4=10.0.1.2\n",
            ", line 1: has no time: log with ip -ts mptcp monitor",
        ),
        (SS, ": holds no TCP socket with its figures"),
        (DRIVE + "2026-11-26 20:44:30 UTC,-4,1,2,3\n", ", line 5: throughput is -4"),
    ],
)
def test_bad_files_are_refused_with_their_line(content: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "bad"
    file.write_text(content)
    with pytest.raises(Error, match=f"^{re.escape(str(file))}{message}") as refused:
        analyze(file)
    assert "\n" not in str(refused.value)


def test_what_is_no_file_gives_one_line(tmp_path: Path, mptcplab: Run) -> None:
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    assert mptcplab("report", circle, "--out", tmp_path / "page.html").stderr == (
        f"mptcplab: {circle} is neither a file nor a directory\n"
    )
    done = mptcplab("analyze", circle)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert done.stderr.startswith(f"mptcplab: {circle}: ")


def test_a_link_to_what_is_not_there_is_named_as_one(tmp_path: Path, mptcplab: Run) -> None:
    for name, target in (("a.pcap", "nowhere"), ("b.pcap", "file/below")):
        (tmp_path / "file").touch()
        (tmp_path / name).symlink_to(target)
        for command in ("report", "analyze", "why"):
            done = mptcplab(command, name, cwd=tmp_path)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr == f"mptcplab: {name} is a link to what is not there: {target}\n"


def test_a_bad_file_gives_one_line_and_status_2(tmp_path: Path, mptcplab: Run) -> None:
    file = tmp_path / "refused.json"
    file.write_text(REFUSED)
    done = mptcplab("analyze", TOOLS / "client.pcapng.gz", file)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"mptcplab: {file}: iperf3 says: unable to connect to server: Connection refused\n"
    )


def test_parts_of_captures_cannot_be_chosen_beside_files() -> None:
    with pytest.raises(Error, match="only of captures a part can be chosen"):
        analyze(TOOLS / "ss.log", from_seconds=1)
    with pytest.raises(Error, match="is measured in captures"):
        analyze(TOOLS / "ss.log", scenario="voice")


def test_a_source_of_a_user_is_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of the documentation."""
    page = (DOCS / "sources.md").read_text()
    code = re.search(r"<!-- module: my_sources.py -->\n```python\n(.*?)```", page, re.DOTALL)
    points = re.search(r"```toml\n\[project\.entry-points\.\"(.*?)\"\]\n(.*?)```", page, re.DOTALL)
    assert code is not None
    assert points is not None
    (tmp_path / "my_sources.py").write_text(code[1])
    about = tmp_path / "my_sources-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-sources\nVersion: 1\n")
    entries = about / "entry_points.txt"
    entries.write_text(f"[{points[1]}]\n{points[2]}".replace('"', ""))
    monkeypatch.syspath_prepend(str(tmp_path))
    formats.sources.cache_clear()
    log = tmp_path / "transfers.log"
    log.write_text("# our transfers\n1795725855 2.0 1000000\n")
    tables = analyze(log)
    assert tables.transfers.select("bytes", "throughput_mbps").row(0) == (1_000_000, 4.0)
    assert tables.subflows["path"].to_list() == ["wifi"]
    log.write_text("# our transfers\n1795725855 2.0 1000000\nthree words\n")
    with pytest.raises(Error, match=r"transfers.log, line 3: is not START SECONDS BYTES"):
        analyze(log)
    log.write_text("# our transfers\n1795725855 2.0 -1\n")
    with pytest.raises(Error, match=r"does not fit: transfers, row 1, column bytes: -1"):
        analyze(log)
    entries.write_text(f"[{points[1]}]\nbroken = my_sources:NOTHING\n")
    formats.sources.cache_clear()
    with pytest.raises(Error, match=r"the source broken \(my_sources:NOTHING\) cannot be loaded"):
        analyze(log)
    formats.sources.cache_clear()
    sys.modules.pop("my_sources")
