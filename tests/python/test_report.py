"""Pages of runs and captures as files: where they go, what they say, what becomes of mistakes."""

from __future__ import annotations

import html
import json
import re
import resource
import runpy
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import mptcplab
from command import Run
from described import described
from mptcplab.charts.columns import thin
from mptcplab.results.comparison import Comparison

SMALL = ["transfer.size=300kB"]


def test_a_run_ends_with_its_page(mptcplab: Run, tmp_path: Path) -> None:
    run = ("run", "wifi-lte", "--set", *SMALL, "--out", tmp_path / "runs")
    assert mptcplab(*run, "--no-report").returncode == 0
    page = tmp_path / "runs" / "report.html"
    assert json.loads(mptcplab(*run, "--json").stdout)["runs"].keys() == {
        "mptcp",
        "tcp-wifi",
        "tcp-lte",
    }
    assert not page.exists()
    done = mptcplab(*run)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == f"{page} shows them"
    shown = described(page)
    assert (shown["title"], shown["name"]) == (
        "wifi-lte: a download over Wi-Fi and LTE",
        "wifi-lte",
    )


def test_a_run_without_data_is_no_error(mptcplab: Run, tmp_path: Path) -> None:
    settings = [
        *("path.lte.attached=false", "tcp.syn_retries=1"),
        *("timeline.0.at=0s", "timeline.1.at=35s"),
    ]
    arguments = [word for one in settings for word in ("--set", one)]
    done = mptcplab("run", "path-lost", *arguments, "--no-baselines", "--out", tmp_path / "runs")
    assert done.returncode == 1, done.stderr  # the transfer did not finish
    assert described(tmp_path / "runs" / "report.html")["verdict"] == [
        "No data was delivered in this direction.",
        "At 0.000 s, wifi: blackout, packets vanish until 35.000 s.",
        "wifi was unanswered: no SYN/ACK came.",
    ]


def test_the_timeline_stands_in_summary_and_page(mptcplab: Run, tmp_path: Path) -> None:
    settings = ["transfer.duration=4s", "timeline.0.at=1s", "timeline.1.at=2500ms"]
    arguments = [word for one in settings for word in ("--set", one)]
    done = mptcplab("run", "path-lost", *arguments, "--no-baselines", "--out", tmp_path / "runs")
    assert done.returncode == 0
    said = "timeline: wifi: blackout, packets vanish until 2.500 s"
    assert f"     1.000 s  {said}" in done.stdout
    page = described(tmp_path / "runs" / "report.html")
    lines = [(event["at_s"], event["text"]) for event in page["events"]]
    assert (1.0, said) in lines
    assert (2.5, "timeline: wifi: packets pass again") in lines
    assert lines == sorted(lines, key=lambda line: line[0])
    assert "At 1.000 s, wifi: blackout, packets vanish until 2.500 s." in page["verdict"]
    assert "after the transfer" not in done.stdout


def test_a_timeline_begins_with_the_run_where_programs_send_later(tmp_path: Path) -> None:
    lost = '{at="500ms", path="wifi", verb="blackout"}, {at="600ms", path="wifi", verb="restore"}'
    settings = ["transfer.size=2MB", f"timeline=[{lost}]"]
    run = mptcplab.run("wifi-lte", out=tmp_path / "at-once", settings=settings, baselines=False)
    first = run.mptcp.connections.row(0, named=True)
    (file,) = (tmp_path / "at-once").rglob("run.json")
    late = shutil.copytree(file.parent, tmp_path / "late")
    about = json.loads(file.read_text())
    about["outcome"]["began_ns"] = first["start_ns"] - 250_000_000
    (late / "run.json").write_text(json.dumps(about))
    page = described(mptcplab.write_report(late))
    times = [event["at_s"] for event in page["events"] if event["text"].startswith("timeline")]
    assert times == pytest.approx([0.25, 0.35])
    (moment,) = (one for one in page["moments"] if not one["found"])
    assert (moment["at_s"], moment["to_s"]) == pytest.approx((0.25, 0.35))
    # Laid over each other, their timelines are one.
    page = described(mptcplab.write_report([run.mptcp.directory, late], tmp_path / "both.html"))
    assert [(one["at_s"], one["to_s"]) for one in page["moments"]] == [(0.5, 0.6)]
    assert page["time"] == "seconds from the start of the timeline"


def test_a_timeline_that_comes_too_late_is_remarked(mptcplab: Run, tmp_path: Path) -> None:
    scenario = tmp_path / "late.toml"
    path = '[path.wifi]\nrate = "20 Mbit/s"\ndelay = "15 ms"\n'
    scenario.write_text(
        'schema = 1\n[transfer]\ndirection = "download"\nsize = "100 kB"\n'
        f'{path}[[timeline]]\nat = "50 s"\npath = "wifi"\nverb = "blackout"\n'
    )
    done = mptcplab("run", scenario, "--no-baselines", "--out", tmp_path / "runs")
    assert re.search(
        r"^  ! the timeline begins after the transfer, which ended at 0\.\d+ s, and changed "
        r"nothing: blackout of wifi at 50\.000 s$",
        done.stdout,
        re.MULTILINE,
    )


def test_the_axis_ends_with_the_data_and_gaps_are_bars(tmp_path: Path) -> None:
    # Over a path that is gone for good FINs and data are sent again for long.
    scenario = tmp_path / "lost.toml"
    scenario.write_text(
        'schema = 1\n[transfer]\ndirection = "download"\nsize = "6 MB"\n'
        '[path.wifi]\nrate = "20 Mbit/s"\ndelay = "15 ms"\n'
        '[path.lte]\nrate = "10 Mbit/s"\ndelay = "35 ms"\n'
        '[[timeline]]\nat = "1 s"\npath = "wifi"\nverb = "blackout"\n'
        '[[timeline]]\nat = "2 s"\npath = "lte"\nverb = "blackout"\n'
        '[[timeline]]\nat = "3 s"\npath = "lte"\nverb = "restore"\n'
    )
    run = mptcplab.run(scenario, out=tmp_path / "runs", baselines=False)
    page = described(run.report())
    transfer = run.mptcp.transfer
    assert transfer is not None
    assert run.mptcp.connections["duration_s"][0] > 1.2 * transfer["elapsed_s"]
    assert transfer["elapsed_s"] <= page["to_s"] <= 1.06 * transfer["elapsed_s"]
    charts = {chart["id"]: chart for chart in page["charts"]}
    assert len(set(run.mptcp.events.filter(event="gap")["subflow"])) >= 1
    gaps = next(lane for lane in charts["events"]["lanes"] if lane["name"] == "gap")
    assert all(series["until"] is not None for series in gaps["series"])
    others = [lane for lane in charts["events"]["lanes"] if lane["name"] != "gap"]
    assert all(series["until"] is None for lane in others for series in lane["series"])


def test_captures_of_a_run_have_one_clock_unless_they_are_of_real_hosts(
    mptcplab: Run, comparison: Comparison, tmp_path: Path
) -> None:
    captures = sorted(comparison.mptcp.directory.glob("*.pcapng"))
    assert len(captures) == 2
    offset = "clock_offset"
    assert offset not in mptcplab("analyze", "--json", *captures).stdout
    assert offset not in set(_analyzed(captures)["diagnostic"])
    copies = [Path(shutil.copy(capture, tmp_path)) for capture in captures]
    about = json.loads((captures[0].parent / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps(about | {"engine": "field", "field": {}}))
    assert offset in mptcplab("analyze", "--json", *copies).stdout
    assert offset in set(_analyzed(copies)["diagnostic"])


def _analyzed(captures: list[Path]) -> pl.DataFrame:
    return mptcplab.analyze(captures).diagnostics


def test_captures_without_a_connection_are_refused(mptcplab: Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    done = mptcplab("analyze", empty, "--report", tmp_path / "page.html")
    assert done.returncode == 2
    assert done.stderr == "mptcplab: there is no connection to report of\n"


def test_the_page_of_a_single_run_lies_beside_it(mptcplab: Run, comparison: Comparison) -> None:
    done = mptcplab("report", comparison.directory / "tcp-lte")
    assert done.stdout == f"{comparison.directory / 'tcp-lte.html'}\n"
    page = described(comparison.directory / "tcp-lte.html")
    assert page["title"] == "wifi-lte, TCP over lte: a download over Wi-Fi and LTE"
    badges = ["simulated", "TCP", "download", "Linux's CUBIC", "seed 1"]
    assert [badge["text"] for badge in page["badges"]] == badges
    assert [table["id"] for table in page["tables"]] == ["subflows"]


def test_what_is_made_of_the_current_directory_is_beside_it(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(comparison.mptcp.directory)
    for made, name in (
        (mptcplab.write_report("."), "mptcp.html"),
        (mptcplab.write_issue("."), "mptcp-issue.zip"),
    ):
        assert made == comparison.directory.resolve() / name
        assert made.exists()


def test_the_scenario_in_the_page_repeats_the_run(comparison: Comparison, tmp_path: Path) -> None:
    origin = described(comparison.report())["provenance"]
    (scenario,) = origin["documents"]
    (tmp_path / scenario["file"]).write_text(scenario["text"])
    arguments = origin["command"].split()
    command = [sys.executable, "-m", *arguments, "--no-captures", "--json", "--out", "again"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    again = json.loads(done.stdout)["runs"]["mptcp"]
    assert again["tables"] == comparison.mptcp.tables.document()
    assert again["throughput_mbps"] == comparison.mptcp.throughput_mbps


def test_captures_have_a_page_too(
    mptcplab: Run, download: list[str], refused: str, tmp_path: Path
) -> None:
    file = tmp_path / "new" / "page.html"
    done = mptcplab("analyze", *download, "--report", file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"wrote {file}\n")
    page = described(file)
    assert page["badges"][0]["text"] == "captured"
    assert page["provenance"]["documents"] == []
    assert {"throughput", "rtt", "data-sequence"} < {chart["id"] for chart in page["charts"]}
    assert mptcplab("analyze", refused, "--report", file).returncode == 0
    assert any("lte was refused: the SYN/ACK came" in one for one in described(file)["verdict"])
    # Captured at the receiver alone: what only the sender knows is left out.
    assert "rtt" not in {chart["id"] for chart in described(file)["charts"]}


def test_a_page_may_be_of_a_part_of_a_capture(mptcplab: Run, refused: str, tmp_path: Path) -> None:
    part = ("--from", 0.05, "--to", 0.2, "--filter", "protocol=mptcp")
    pages = tmp_path / "report.html", tmp_path / "analyze.html"
    done = mptcplab("report", refused, *part, "--out", pages[0])
    assert done.returncode == 0, done.stderr
    mptcplab("analyze", refused, *part, "--report", pages[1])
    drawn, expected = map(described, pages)
    assert drawn["to_s"] <= 0.2
    assert drawn["charts"] == expected["charts"]


def test_the_page_of_a_capture_of_another_year_has_times_of_its_own(
    mptcplab: Run, tmp_path: Path
) -> None:
    examples = Path(__file__).parents[2] / "examples"
    # A simulator counts from 1970.
    captures = (examples / "tools/ns3/client.pcap.gz", examples / "outage/client.pcapng.gz")
    assert mptcplab("analyze", *captures, "--report", tmp_path / "page.html").returncode == 0
    page = described(tmp_path / "page.html")
    (why,) = (table for table in page["tables"] if table["id"] == "why")
    row = dict(zip(why["columns"], why["rows"][0], strict=True))
    assert row["finding"].startswith("wifi delivered nothing from 2.0 s to 7.3 s")
    assert (row["from"], row["to"]) == ("2.020 s", "7.280 s")


def test_several_runs_are_laid_over_each_other(mptcplab: Run, comparison: Comparison) -> None:
    lte = comparison.directory / "tcp-lte"
    target = comparison.directory / "several.html"
    arguments = (comparison.directory, lte, lte, "--out", target)
    assert mptcplab("report", *arguments).stdout == f"{target}\n"
    page = described(target)
    assert [one["name"] for one in page["subflows"]] == ["small", "tcp-lte (2)", "tcp-lte (3)"]
    assert page["parts"] == "Runs"
    assert page["time"] == "seconds from the first packet"
    runs = [comparison.mptcp, *[comparison.baselines["lte"]] * 2]
    (table,) = page["tables"]
    rates = [f"{run.throughput_mbps:.3g}" for run in runs]
    assert [row[table["columns"].index("Mbit/s")] for row in table["rows"]] == rates
    assert table["rows"][0][-1] == f"{100 * (comparison.gain or 0):+.0f} %"
    assert page["to_s"] >= max(run.transfer["elapsed_s"] for run in runs if run.transfer)
    charts = {chart["id"]: chart for chart in page["charts"]}
    assert list(charts) == ["throughput", "delivered", "rtt", "reordering"]
    assert all(len(chart["series"]) == 3 for chart in charts.values())
    assert "was the fastest" in page["verdict"][0]


def test_repeated_runs_have_a_page(mptcplab: Run, tmp_path: Path) -> None:
    out = tmp_path / "repeated"
    arguments = ("run", "wifi-lte", "--set", *SMALL, "--repeat", 2, "--out", out, "--no-captures")
    done = mptcplab(*arguments)
    assert done.stdout.splitlines()[-1] == f"{out / 'report.html'} shows them"
    page = described(out / "report.html")
    assert page["title"] == "wifi-lte: 2 runs of a download over Wi-Fi and LTE"
    assert [one["name"] for one in page["subflows"]] == ["seed 1", "seed 2"]
    assert page["verdict"][0].startswith("Over 2 runs MPTCP gives ")
    (out / "report.html").unlink()
    assert mptcplab("report", out).stdout == f"{out / 'report.html'}\n"
    # Remarks are no results.
    assert "kept from before" in mptcplab(*arguments).stderr
    assert mptcplab(*arguments, "--quiet").stderr == ""


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere"], "nowhere: no such file or directory"),
        (["runs", "nowhere"], "nowhere: no such file or directory"),
        (["runs", "runs", "--connection", "0"], "run, connection and filter choose in one source"),
        (["runs", "--filter", "port=1"], "no connection of 1 meets 'port=1'"),
        (["runs", "--from", "1"], "runs holds runs: a part (from, to) is chosen of captures"),
        (["runs/mptcp", "--to", "1"], "runs/mptcp holds runs: a part"),
        (["runs", "--from", "2", "--to", "1"], "--to is 1, and must be above --from, 2"),
        (["runs", "--issue", "--to", "1"], "--to does not go with --issue"),
        (["runs", "--connection", "7"], "there is no connection 7, only 0 to 0"),
        (["runs", "--out", "runs/mptcp"], "cannot write runs/mptcp: Is a directory"),
        (["runs", "--out", "runs/report.html/x"], "cannot write runs/report.html/x: "),
    ],
)
def test_mistakes_get_one_line(
    mptcplab: Run, comparison: Comparison, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    shutil.copytree(comparison.directory, tmp_path / "runs")
    comparison.report(tmp_path / "runs" / "report.html")
    before = sorted(tmp_path.rglob("*"))
    done = mptcplab("report", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert complaint in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_an_earlier_page_stays_where_there_is_no_room(
    mptcplab: Run, comparison: Comparison, tmp_path: Path
) -> None:
    page = comparison.report(tmp_path / "page.html")
    earlier = page.read_text()

    def small_files_only() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = mptcplab("report", comparison.directory, "--out", page, preexec_fn=small_files_only)
    assert done.returncode == 2
    assert done.stderr == f"mptcplab: cannot write {page}: File too large\n"
    assert list(tmp_path.iterdir()) == [page]
    assert page.read_text() == earlier


def test_text_from_outside_stays_text(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><!-- <b>"
    scenario = {
        "schema": 1,
        "title": evil,
        "transfer": {"direction": "download", "size": "100 kB"},
        "path": {"wifi": {"rate": "10 Mbit/s", "delay": "10 ms"}},
        "run": {"baselines": False},
    }
    page = mptcplab.run(scenario, out=tmp_path / "runs").report()
    assert described(page)["title"].endswith(evil)
    written = page.read_text()
    assert f"{html.escape(evil)} · mptcplab</title>" in written
    described_or_escaped = r'id="page">.*?</script>|<title>.*?</title>'
    assert "alert" not in re.sub(described_or_escaped, "", written)


def test_the_same_run_gives_the_same_page(comparison: Comparison, tmp_path: Path) -> None:
    one, other = (comparison.report(tmp_path / name) for name in ("one.html", "other.html"))
    assert one.read_bytes() == other.read_bytes()


def test_thinning_keeps_marks_and_the_extremes_of_every_span() -> None:
    rows = 5000
    frame = pl.DataFrame(
        {
            "subflow": [number % 3 for number in range(rows)],
            "at_s": [number / 100 for number in range(rows)],
            "value": [(number * 7919) % 1009 for number in range(rows)],
            "marked": [number % 97 == 0 for number in range(rows)],
        }
    )
    most = 600
    thinned, note = thin(frame, "value", pl.col("marked"), most)
    assert note
    assert f"{len(thinned)} of 5\u202f000 samples" in note
    assert len(thinned) <= most + frame["marked"].sum()
    assert thinned["at_s"].is_sorted()
    assert frame.filter("marked").join(thinned, on="at_s", how="anti").is_empty()
    width = (frame["at_s"].max() - frame["at_s"].min()) / (most // 6)  # type: ignore[operator]
    for subflow in range(3):
        for span in range(most // 6):
            inside = (
                (pl.col("subflow") == subflow)
                & (pl.col("at_s") >= span * width)
                & (pl.col("at_s") < (span + 1) * width)
            )
            all_of, kept = frame.filter(inside), thinned.filter(inside)
            assert all_of["value"].min() == kept["value"].min()
            assert all_of["value"].max() == kept["value"].max()


def test_few_samples_are_left_as_they_are() -> None:
    frame = pl.DataFrame({"subflow": [0, 0], "at_s": [0.0, 1.0], "value": [1, 2]})
    assert thin(frame, "value") == (frame, None)


def test_typescript_has_the_shapes_of_python() -> None:
    """Whoever changes a shape.py runs report-ui/shapes.py."""
    source = Path(__file__).parents[2] / "report-ui"
    for file, text in runpy.run_path(str(source / "shapes.py"))["written"]().items():
        assert (source / "src" / file).read_text() == text, file
