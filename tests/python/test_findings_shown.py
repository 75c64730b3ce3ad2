"""Where people read findings: commands, pages, campaigns; and remedies that are tried."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import mptcplab as package
from experiments.findings.scenarios import ASK, BULK, LTE, SMALL_WINDOW, WIFI, away, scenario
from mptcplab.results.comparison import Comparison

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that a slow path held up, beside plain TCP."""
    import mptcplab

    slow = LTE | {"rate": "1 Mbit/s", "delay": "150 ms", "queue": "2 s"}
    one = scenario(
        BULK | {"size": "4 MB"},
        mptcp={"scheduler": "round-robin"},
        tcp=SMALL_WINDOW,
        wifi=WIFI,
        lte=slow,
    )
    directory = tmp_path_factory.mktemp("why") / "slow"
    mptcplab.run(one, out=str(directory))
    return directory


def test_why_tells_what_only_the_runs_beside_it_know(mptcplab: Any, directory: Path) -> None:
    """MPTCP was slower than Wi-Fi alone; run and its document say so, too."""
    findings = json.loads(mptcplab("why", "--json", str(directory)).stdout)["findings"]
    (slower,) = [row for row in findings if row["kind"] == "slower_than_single"]
    assert "slower than TCP over wifi alone" in slower["message"]
    assert slower["cost_mbps"] is None or slower["cost_s"] > 0
    from mptcplab.results.comparison import open_comparison

    assert open_comparison(directory).document()["findings"] == findings
    assert package.why(directory).findings.rows(named=True) == findings
    capture = EXAMPLES / "outage" / "client.pcapng.gz"
    assert package.why(capture).findings.equals(package.analyze(capture).findings)


def test_why_tries_remedies_with_the_same_seed(mptcplab: Any, directory: Path) -> None:
    """The scheduler that heeds delays, tried, gains most of what Wi-Fi alone shows to be lost."""
    why = package.why(directory, tries=True)
    gained = {row["remedy"]: row["gained_s"] for row in why.tried.rows(named=True)}
    assert gained["the scheduler ecf"] > 1
    tried = json.loads(mptcplab("why", "--try", "--json", str(directory)).stdout)["tried"]
    assert why.tried_rows == tried
    printed = mptcplab("why", "--try", str(directory)).stdout
    assert "the scheduler ecf" in printed


def test_why_tries_remedies_in_a_model_of_what_linux_sent(mptcplab: Any) -> None:
    """The captured outage is in the model; leaving the path sooner saves what LTE waited."""
    captures = sorted((EXAMPLES / "outage").glob("*.pcapng.gz"))
    why = package.why(captures, tries=True)
    assert why.model is not None
    assert why.model["holds"]
    assert abs(why.model["off"]) <= why.model["band"]
    (tried,) = why.tried.rows(named=True)
    assert tried["kind"] == "path_dead"
    assert 0.5 < tried["gained_s"] < tried["claimed_s"] / 2
    assert "not what the dead path would have carried" in tried["limit"]
    report = json.loads(mptcplab("why", "--try", "--json", *map(str, captures)).stdout)
    assert [report["findings"], report["tried"]] == [why.rows, why.tried_rows]
    assert report["model"] == why.model
    printed = mptcplab("why", "--try", *map(str, captures)).stdout
    assert "a model of connection 0" in printed


def captured(table: dict[str, Any], directory: Path) -> list[Path]:
    """Simulate a scenario; give the captures of both ends."""
    run = package.run(table, out=directory / "run", baselines=False, captures="headers")
    return sorted(run.mptcp.directory.glob("*.pcapng"))


def test_a_model_has_the_links_the_window_and_the_outage_of_the_capture(tmp_path: Path) -> None:
    """They are those of the scenario that was captured."""
    gone = away("wifi", 2, 3.5)
    captures = captured(scenario(timeline=gone, tcp=SMALL_WINDOW), tmp_path)
    model = package.why(captures, tries=True).model
    assert model is not None
    made = model["scenario"]
    for path, mbps, delay_ms in (("wifi", 20, 12), ("lte", 12, 25)):
        rate, delay, *_ = made["link"][path]["downlink"]
        assert float(rate["rate"].split()[0]) == pytest.approx(mbps, rel=0.05)
        assert float(delay["delay"].split()[0]) == pytest.approx(delay_ms, abs=1)
    dead, back = made["timeline"]
    assert [dead["verb"], back["verb"]] == ["blackout", "restore"]
    assert float(dead["at"].split()[0]) == pytest.approx(2, abs=0.1)
    # It came back between two time-outs.
    assert 2.5 < float(back["at"].split()[0]) < 4.5
    assert made["tcp"]["receive_buffer_tuning"] is False
    assert made["transfer"] == {"direction": "download", "size": "12000000 B"}


@pytest.mark.parametrize("percent", [2, 3])
def test_a_model_loses_packets_by_chance_as_the_captured_path_did(
    tmp_path: Path, percent: int
) -> None:
    """One by one, and not in a queue that is as short as round trips were before a few of them."""
    lossy = scenario(wifi=WIFI | {"loss": f"{percent} %"}, lte=LTE)
    why = package.why(captured(lossy, tmp_path), tries=True)
    assert why.model is not None
    rate, _, loss = why.model["scenario"]["link"]["wifi"]["downlink"]
    assert loss["element"] == "loss"
    assert float(loss["ratio"].split()[0]) == pytest.approx(percent, rel=0.2)
    assert float(rate["queue"]["bytes"].split()[0]) > 15_000
    assert why.model["holds"]
    assert why.model["shown"] == ["losses_random"]


def test_what_a_model_does_not_show_is_named() -> None:
    """Nothing is tried against that."""
    from mptcplab.cli.summary.findings import print_model
    from mptcplab.cli.summary.page import Page
    from mptcplab.results.findings.remedies import named

    model = {
        "connection": 0,
        "captured_s": 9.0,
        "taken_s": 9.1,
        "off": 0.01,
        "holds": True,
        "never_filled": [],
    }
    stream = io.StringIO()
    twice = {"kind": "reinjection_waste", "remedy": named("the scheduler lowest-rtt").words}
    print_model(Page(stream), model | {"shown": ["path_dead"]}, [twice])
    assert "it does not show the finding “data sent twice”" in stream.getvalue()


def test_nothing_is_concluded_from_a_model_that_is_off(mptcplab: Any, tmp_path: Path) -> None:
    """Who asks now and then takes longer than who sends all at once."""
    asked = scenario(ASK | {"response": "200 kB", "requests": 4})
    captures = list(map(str, captured(asked, tmp_path)))
    report = json.loads(mptcplab("why", "--try", "--json", *captures).stdout)
    assert not report["model"]["holds"]
    assert report["tried"] == []
    assert "and so nothing is concluded from it" in mptcplab("why", "--try", *captures).stdout


def test_a_sender_alone_that_sent_all_twice_shows_no_rates(mptcplab: Any, tmp_path: Path) -> None:
    """Which copy came first, the receiver tells."""
    lossy: dict[str, Any] = {"wifi": WIFI | {"loss": "5 %"}, "lte": LTE | {"loss": "5 %"}}
    asked = ASK | {"response": "2 kB", "requests": 80, "think": "20 ms"}
    table = scenario(asked, mptcp={"scheduler": "redundant"}, **lossy)
    _, server = captured(table, tmp_path)
    refused = mptcplab("why", "--try", str(server))
    assert refused.returncode == 2
    assert re.fullmatch(r"mptcplab: .*server.pcapng: the rate of a path.*\n", refused.stderr)


def test_captures_that_tell_too_little_for_a_model_are_refused_in_a_line(mptcplab: Any) -> None:
    """Without the sender's end there are no round trips; a few bytes are no transfer."""
    client = EXAMPLES / "refused" / "client.pcapng.gz"
    refused = mptcplab("why", "--try", str(client))
    assert refused.returncode == 2
    assert re.fullmatch(r"mptcplab: .*client.pcapng.gz: no round-trip times.*\n", refused.stderr)


WINDOWS = """\
schema = 1
scenario = "far.toml"
repetitions = 2
baselines = false

[axis.buffer]
key = "tcp.receive_buffer"
values = ["64 kB", "4 MB"]

[set]
"tcp.receive_buffer_tuning" = false
"""

FAR = """\
schema = 1

[transfer]
direction = "download"
size = "4 MB"

[path.wifi]
rate = "20 Mbit/s"
delay = "80 ms"

[path.lte]
rate = "12 Mbit/s"
delay = "80 ms"
"""


def test_campaigns_count_kinds_per_configuration(mptcplab: Any, tmp_path: Path) -> None:
    """Both runs with a small buffer have it, in frame, summary, document and page."""
    from mptcplab.charts.campaign.page import describe
    from mptcplab.results.campaign import Campaign

    (tmp_path / "far.toml").write_text(FAR)
    (tmp_path / "windows.toml").write_text(WINDOWS)
    directory = tmp_path / "out"
    printed = mptcplab("sweep", str(tmp_path / "windows.toml"), "--out", str(directory)).stdout
    assert "why buffer 64 kB: small receive window in 2 of 2" in printed
    campaign = Campaign(directory)
    rows = campaign.findings.select("configuration", "finding", "runs", "of").rows()
    assert (0, "receive_window", 2, 2) in rows
    assert not [row for row in rows if row[:2] == (1, "receive_window")]
    tables = {one.id: one for one in describe(campaign).tables}
    assert ["64 kB", "small receive window", "2 of 2", "–"] in tables["findings"].rows


def test_compare_says_which_came_and_which_went(mptcplab: Any, tmp_path: Path) -> None:
    """With a larger buffer the window's finding is gone; over seeds they are counted."""
    (tmp_path / "far.toml").write_text(FAR)
    for name, buffer in (("small", "64 kB"), ("large", "4 MB")):
        arguments = ["run", str(tmp_path / "far.toml"), "--no-baselines", "--repeat", "2"]
        arguments += ["--set", f"tcp.receive_buffer={buffer}"]
        arguments += ["--set", "tcp.receive_buffer_tuning=false", "--out", str(tmp_path / name)]
        printed = mptcplab(*arguments).stdout
        assert ("small receive window in 2 of 2 runs" in printed) == (name == "small")
    sides = [str(tmp_path / name) for name in ("small", "large")]
    assert "small receive window: A 2 of 2 runs, B none" in mptcplab("compare", *sides).stdout
    document = json.loads(mptcplab("compare", "--json", *sides).stdout)
    found = {row["kind"]: row for row in document["findings"]}
    assert found["receive_window"]["a"]["runs"] == 2
    assert found["receive_window"]["b"] is None


def test_the_page_of_a_run_begins_with_findings_and_marks_them(directory: Path) -> None:
    """Those that only the runs beside it tell, too; a mark over the span."""
    from mptcplab.charts.run.page import describe
    from mptcplab.charts.run.subject import Subject
    from mptcplab.results.comparison import open_comparison

    page = describe(Subject.of(open_comparison(directory)))
    moved = next(at for at, one in enumerate(page.verdict) if one.startswith("MPTCP moved"))
    assert "slower than TCP over wifi alone" in " ".join(page.verdict[:moved])
    assert moved <= 3
    lanes = {lane.name: lane for lane in page.charts[0].lanes}
    (mark,) = lanes["slower than a single path"].series
    assert mark.until is not None
    assert mark.until[0] > mark.x[0]


def test_the_page_shades_the_spans_of_findings_in_all_charts(tmp_path: Path) -> None:
    """An outage is a band from its start to its end."""
    import mptcplab
    from mptcplab.charts.run.page import describe
    from mptcplab.charts.run.subject import Subject

    one = scenario(timeline=away("wifi", 2, 5), wifi=WIFI)
    found = mptcplab.run(one, baselines=False, out=str(tmp_path / "outage"))
    bands = [moment for moment in describe(Subject.of(found)).moments if moment.found]
    (outage,) = [band for band in bands if band.text == "chain of time-outs"]
    assert outage.at_s == pytest.approx(2, abs=0.2)
    # Time-outs that doubled end after the path is back.
    assert outage.to_s is not None
    assert 5 <= outage.to_s < 7


def test_the_summary_of_a_run_says_what_shows_all() -> None:
    """The command run has no --why."""
    from mptcplab.cli.summary.findings import print_first
    from mptcplab.cli.summary.page import Page

    row = {"kind": "outage", "cost_s": 1.0, "confidence": 0.9, "message": "nothing came"}
    stream = io.StringIO()
    print_first(Page(stream), [row] * 4, rest="mptcplab why runs/one")
    assert stream.getvalue().count("why nothing came: 1.00 s lost") == 3
    assert "1 more finding: mptcplab why runs/one shows all" in stream.getvalue()


def test_a_run_leads_to_what_would_help(mptcplab: Any, directory: Path, tmp_path: Path) -> None:
    """Where a remedy can be tried, the last line names the command, which then tries it."""
    run = ("run", str(directory / "mptcp" / "scenario.toml"), "--no-baselines", "--no-report")
    printed = mptcplab(*run, "--out", str(tmp_path / "a b")).stdout
    last = printed.splitlines()[-1]
    command = last.removesuffix(" tries what would help")
    assert command != last
    assert "\ntried with the same seed:\n" in mptcplab(*shlex.split(command)[1:]).stdout
    # Nothing to try.
    fine = (*run, "--set", "transfer.size=20 kB", "--out", str(tmp_path / "fine"))
    assert "why --try" not in mptcplab(*fine).stdout


def test_one_capture_is_no_all_clear(mptcplab: Any) -> None:
    """A path was dead, which only the sender's capture shows."""
    captures = [str(EXAMPLES / "outage" / f"{end}.pcapng.gz") for end in ("client", "server")]
    needed = "give the capture of the server too"
    assert needed in mptcplab("analyze", "--why", captures[0]).stdout
    assert needed not in mptcplab("analyze", "--why", *captures).stdout


def test_captures_of_neither_sender_ask_for_both_ends_once() -> None:
    """Two lines that each ask for another end contradict each other."""
    from mptcplab.cli.summary.findings import print_all
    from mptcplab.cli.summary.page import Page

    stream = io.StringIO()
    print_all(Page(stream), [], unseen=["server", "client"])
    printed = " ".join(stream.getvalue().split())
    assert printed.count("only at the sender of the data") == 1
    assert printed.endswith("give captures of both ends")


def test_findings_alike_share_their_remedy(tmp_path: Path) -> None:
    """One remedy below both, and the captures as they can be opened."""
    from mptcplab.cli.summary.findings import print_all
    from mptcplab.cli.summary.page import Page

    one = {
        "kind": "bufferbloat",
        "message": "wifi: a long queue",
        "cost_s": None,
        "confidence": 0.9,
        "from_s": 1.0,
        "to_s": 2.0,
        "direction": "down",
        "evidence": "round trips",
        "remedy": "a shorter queue",
        "filter": "tcp",
        "capture": str(tmp_path / "client.pcapng"),
        "record": 7,
    }
    other = one | {"message": "lte: a long queue", "record": None, "capture": None}
    outage = one | {"kind": "outage", "message": "nothing came", "cost_s": 1.0, "cost_mbps": None}
    stream = io.StringIO()
    print_all(Page(stream), [one, outage, other])
    first, alike = stream.getvalue().split("\n\n")
    assert first.startswith("nothing came")
    assert "\n  outage · " in first
    assert alike.count("\n  long queue · ") == 2
    assert alike.count("a long queue") == 2
    assert alike.count("a shorter queue") == 1
    assert f"{tmp_path}/client.pcapng packet 7" in " ".join(alike.split())


def test_captures_that_are_unfit_ask_for_one_thing() -> None:
    """Captures of both ends were asked for where nobody knew which end it was."""
    from mptcplab.cli.summary.findings import print_all
    from mptcplab.cli.summary.page import Page

    unfit = {
        "kind": "capture_unfit",
        "message": "the capture cannot show what limited the transfer",
        "cost_s": None,
        "confidence": 0.9,
        "from_s": 1.0,
        "to_s": 2.0,
        "direction": "down",
        "evidence": "neither handshakes nor acknowledgements",
        "remedy": "capture at the end that sends the data, or at both ends",
        "filter": "tcp",
        "capture": None,
        "record": None,
    }
    stream = io.StringIO()
    print_all(Page(stream), [unfit], unseen=["server", "client"])
    assert "give the capture" not in stream.getvalue()


def test_filters_show_the_packets(mptcplab: Any) -> None:
    """The display filter is one, and shows packets within the span."""
    capture = EXAMPLES / "outage" / "server.pcapng.gz"
    rows = json.loads(mptcplab("analyze", "--why", "--json", str(capture)).stdout)["findings"]
    assert rows
    if not shutil.which("tshark"):
        pytest.skip("tshark is not installed")
    shown = subprocess.run(
        ["tshark", "-r", str(capture), "-Y", rows[0]["filter"], "-T", "fields", "-e", "tcp.port"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    ports = re.findall(r"tcp.port == (\d+)", rows[0]["filter"])
    assert shown
    assert all(port in ports for port in shown[0].split(","))


def test_the_mark_of_a_finding_leads_to_its_packet(lost: Comparison) -> None:
    """In the page of a run, too, whose findings name captures by where they are."""
    from mptcplab.charts.run.events import finding_lanes
    from mptcplab.charts.run.subject import Subject

    (row,) = [row for row in package.why(lost).rows if row["kind"] == "path_dead"]
    subject = Subject.of(lost)
    (lane,) = [lane for lane in finding_lanes(subject) if lane.name == "dead path"]
    (mark,) = lane.series
    assert (mark.x[0], mark.until and mark.until[0]) == (row["from_s"], row["to_s"])
    assert mark.capture is not None
    assert mark.record is not None
    assert subject.captures[mark.capture[0]] == Path(row["capture"]).name
    assert mark.record[0] == row["record"]
