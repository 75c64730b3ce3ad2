"""``mptcplab why``: what it says of runs and captures, and what it tries."""

from __future__ import annotations

import gzip
import io
import json
import shlex
import shutil
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import mptcplab as package
from conftest import EXAMPLES
from experiments.findings.scenarios import BULK, LTE, WIFI, ask, away, event, scenario, silent
from mptcplab._core import Tables
from mptcplab.analysis import measure
from mptcplab.calibration.modelled import BIN_S, OVERFLOWS, largest, never_filled, widest
from mptcplab.engines import DEFAULT
from mptcplab.results.findings.remedies import named
from mptcplab.results.findings.tries import Trials, tried
from mptcplab.results.run import ADDED
from mptcplab.results.unanswered import unanswered
from mptcplab.scenario.long import write
from mptcplab.scenario.scenario import load

Table = dict[str, Any]

BBR, GUARD = "the congestion controller bbr", "the path manager guard"
TWICE = "the scheduler redundant"


def kept(table: Table, directory: Path, **options: Any) -> Path:
    """Run a scenario with MPTCP alone, and keep captures of headers."""
    package.run(table, out=directory, captures="headers", **{"baselines": False} | options)
    return directory


def test_captures_that_cannot_tell_give_no_clean_bill(mptcplab: Any, tmp_path: Path) -> None:
    """A small send buffer shows in no packet; a path that is full does."""
    far = WIFI | {"delay": "80 ms"}
    size = BULK | {"size": "4 MB"}
    directory = kept(scenario(size, tcp={"send_buffer": "100 kB"}, wifi=far), tmp_path / "small")
    captures = sorted(map(str, (directory / "mptcp").glob("*.pcapng")))
    for command in (["analyze", "--why"], ["why"]):
        printed = " ".join(mptcplab(*command, *captures).stdout.split())
        assert "nothing was found" not in printed
        assert (
            "What else limited the transfer is not in packets: whether the send buffer" in printed
        )
        document = json.loads(mptcplab(*command, "--json", *captures).stdout)
        assert "is not in packets" in document["unanswered"]
    assert package.why(captures).unanswered == document["unanswered"]
    assert document["unanswered"].startswith("no path that carried much was full")
    # A run knows.
    assert package.why(directory).unanswered is None
    assert "not in packets" not in mptcplab("why", str(directory)).stdout
    full = kept(scenario(size, wifi=WIFI), tmp_path / "full")
    captures = sorted(map(str, (full / "mptcp").glob("*.pcapng")))
    assert "nothing was found" in mptcplab("analyze", "--why", *captures).stdout
    assert json.loads(mptcplab("why", "--json", *captures).stdout)["unanswered"] is None


@pytest.mark.parametrize(
    ("send_buffer", "control", "is_held"),
    [
        # The bursts of so little queue for some milliseconds, and nothing is ever lost.
        ("80 kB", "cubic", True),
        ("40 kB", "reno", True),
        # Congestion control goes on until something is.
        ("16 MB", "cubic", False),
        ("16 MB", "reno", False),
    ],
)
def test_a_sender_that_could_have_had_more_in_flight_gives_no_clean_bill(
    tmp_path: Path, send_buffer: str, control: str, is_held: bool
) -> None:
    """With 80 kB it takes twice as long, and both paths seem to have a queue."""
    wifi = {"rate": "32 Mbit/s", "delay": "9 ms", "jitter": "1 ms", "queue": "160 kB"}
    lte = {"rate": "19 Mbit/s", "delay": "26 ms", "jitter": "2 ms", "queue": "190 kB"}
    table = scenario(
        BULK | {"size": "24 MB"},
        mptcp={"congestion_control": control},
        tcp={"send_buffer": send_buffer},
        wifi=wifi,
        lte=lte,
    )
    captures = sorted((kept(table, tmp_path / "run") / "mptcp").glob("*.pcapng"))
    missed = package.why(captures).unanswered
    assert (missed is not None) is is_held
    if missed is not None:
        assert "and round trips kept their length: there may have been room for more" in missed
        assert "whether the send buffer was too small" in missed


NEAR_WIFI = {"rate": "30 Mbit/s", "delay": "25 ms", "queue": "80 ms"}


@pytest.mark.parametrize(
    ("paths", "gone", "never_filled", "is_minimum"),
    [
        # Random losses hide how fast it is: its rate is what was seen.
        ({"wifi": NEAR_WIFI | {"loss": "1 %"}}, [], ["wifi"], True),
        ({"wifi": NEAR_WIFI, "lte": LTE}, away("wifi", 2, 4), [], False),
    ],
)
def test_what_is_gained_is_a_minimum_where_the_widest_path_never_was_full(
    mptcplab: Any,
    tmp_path: Path,
    paths: Any,
    gone: Any,
    never_filled: list[str],
    is_minimum: bool,
) -> None:
    """Its links carry what was seen, and may carry more."""
    table = scenario(BULK | {"size": "10 MB"}, timeline=gone, **paths)
    captures = sorted((kept(table, tmp_path / "run") / "mptcp").glob("*.pcapng"))
    why = package.why(captures, tries=True)
    assert why.model is not None
    assert why.model["holds"]
    assert why.model["never_filled"] == never_filled
    row = max(why.tried.rows(named=True), key=lambda row: row["gained_s"])
    assert row["gained_is_minimum"] is is_minimum
    printed = " ".join(mptcplab("why", "--try", *map(str, captures)).stdout.split())
    said = f"at least {row['gained_s']:.2f} s"
    assert (said in printed) is is_minimum
    assert ("round trips show no queue on wifi, which may carry more" in printed) is is_minimum


def test_a_model_is_made_where_nobody_saw_what_a_path_delivered(tmp_path: Path) -> None:
    """The sender of data that went over two paths does not see over which it arrived first."""
    goes = [event(0.5, "lte", "detach"), event(1.5, "lte", "attach"), event(1.8, "lte", "detach")]
    wifi = {"rate": "20 Mbit/s", "delay": "40 ms", "queue": "100 ms"}
    lte = wifi | {"rate": "2 Mbit/s"}
    lossy = wifi | {"loss": "1 %"}
    table = scenario(BULK | {"size": "6 MB"}, timeline=goes, wifi=lossy, lte=lte)
    capture = kept(table, tmp_path / "run") / "mptcp" / "server.pcapng"
    delivered = package.analyze(capture).flows.filter(direction="down")["delivered_bytes"]
    assert delivered.null_count() == len(delivered)
    model = package.why(capture, tries=True).model
    assert model is not None
    assert model["captured_s"] > 0


def test_a_path_whose_short_queue_lost_packets_was_full(tmp_path: Path) -> None:
    """Its round trips hardly show the queue."""
    table = dict(silent())["tiny queues"]
    captures = sorted((kept(table, tmp_path / "run") / "mptcp").glob("*.pcapng"))
    tables = measure(captures, bin_seconds=BIN_S)
    transfer, findings = largest(tables), list(tables.rows("findings"))
    assert {row["kind"] for row in findings} & OVERFLOWS
    assert widest(tables, transfer) not in never_filled(tables, transfer, findings)
    assert widest(tables, transfer) in never_filled(tables, transfer, [])


def test_the_largest_connection_is_named_where_only_others_have_findings() -> None:
    """Findings of a small connection do not pass for an answer to why it was slow."""
    transfer = {"connection": 1, "direction": "up", "bytes": 1_850_000, "elapsed_s": 12.0}
    flow = {
        **{"connection": 1, "direction": "up", "bytes": 1_090_000, "rtt_ms_median": 114.0},
        **{"rtt_ms_min": 111.0, "loss_rate_percent": 0.78},
        **{"rtt_ms_p95": 120.0, "retransmitted_packets": 6},
    }
    connection = {"connection": 1, "began": "handshake"}
    rows = {"transfers": [transfer], "flows": [flow], "connections": [connection]}
    tables: Any = SimpleNamespace(rows=lambda name, **_: iter(rows[name]))
    of_another = [{"connection": 3, "kind": "application"}]
    moved = "connection 1 moved most, 1.85 MB in 12.0 s: "
    assert unanswered(tables, of_another) == f"{moved}its packets do not show what limited it"
    assert unanswered(tables, []) is None
    assert unanswered(tables, [{**of_another[0], "connection": 1}]) is None
    flow["loss_rate_percent"] = 0.0
    assert (unanswered(tables, of_another) or "").startswith(f"{moved}no path that carried much ")
    assert (unanswered(tables, []) or "").startswith("no path that carried much ")


def test_captures_that_began_midway_give_no_clean_bill(mptcplab: Any, tmp_path: Path) -> None:
    """A path was dead for 2 s, which a rule finds that needs the handshake."""
    gone = scenario(timeline=away("wifi", 2, 4), wifi=WIFI, lte=LTE)
    directory = kept(gone, tmp_path / "run") / "mptcp"
    captures = sorted(map(str, directory.glob("*.pcapng")))
    whole = package.why(captures)
    assert "path_dead" in list(whole.findings["kind"])
    assert whole.unanswered is None
    printed = " ".join(mptcplab("analyze", "--why", "--from", "1", *captures).stdout.split())
    assert "nothing was found" not in printed
    assert "began after the connection, whose handshakes most findings need" in printed
    assert "different runs" not in printed


def test_what_a_damaged_capture_lacks_is_said(mptcplab: Any, tmp_path: Path) -> None:
    """Findings are those of what could be read."""
    whole = gzip.decompress((EXAMPLES / "outage" / "server.pcapng.gz").read_bytes())
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(whole[: len(whole) // 4])
    for command in (["analyze", "--why"], ["why"], ["why", "--json"], ["why", "--try"]):
        done = mptcplab(*command, str(cut))
        assert "cut.pcapng: ends in the middle of packet" in done.stderr
        assert "analysed up to there" in done.stderr
    assert json.loads(mptcplab("why", "--json", str(cut)).stdout)["complete"] is False


def test_why_of_a_campaign_says_where_its_findings_are(mptcplab: Any, tmp_path: Path) -> None:
    """It has runs, but not one that is meant; those that it kept are named."""
    table = {"schema": 1, "repetitions": 1, "baselines": False, "keep": "runs"}
    package.sweep(table | {"scenario": scenario(wifi=WIFI)}, out=tmp_path / "many", jobs=1)
    refused = mptcplab("why", str(tmp_path / "many"))
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1
    assert "is a campaign, whose page counts the findings of each configuration" in refused.stderr
    (kept_run,) = (tmp_path / "many" / "runs").iterdir()
    assert mptcplab("why", str(kept_run)).returncode == 0


def test_remedies_of_what_a_kernel_sent_are_tried_in_a_model(mptcplab: Any, tmp_path: Path) -> None:
    """Of a run of another engine the captures are there; without them a line says so."""
    gone = scenario(timeline=away("wifi", 2, 4), wifi=WIFI, lte=LTE)
    directory = kept(gone, tmp_path / "run")
    about = directory / "mptcp" / "run.json"
    written = json.loads(about.read_text("utf-8"))
    about.write_text(json.dumps(written | {"engine": "kernel"}), "utf-8")
    captures = sorted(map(str, (directory / "mptcp").glob("*.pcapng")))
    hint = " ".join(mptcplab("why", str(directory)).stdout.split())
    assert f"mptcplab why --try {' '.join(captures)} tries what would help" in hint
    printed = mptcplab("why", "--try", str(directory)).stdout
    assert printed.startswith("wifi delivered nothing")
    assert "\n  dead path · " in printed
    assert "path_dead" not in printed
    assert "server.pcapng packet" in printed
    assert "a model of connection 0" in printed
    assert "tried in the model" in printed
    found = package.why(directory, tries=True)
    assert found.model is not None
    assert found.rows == package.why(directory).rows
    for capture in (directory / "mptcp").glob("*.pcapng"):
        capture.unlink()
    refused = mptcplab("why", "--try", str(directory))
    assert refused.returncode == 2
    assert "kept no captures" in refused.stderr
    assert "scenario.toml again without --no-captures" in refused.stderr
    assert "pcapng packet" not in mptcplab("why", str(directory)).stdout


def test_a_directory_of_seeds_points_to_one(mptcplab: Any, tmp_path: Path) -> None:
    """It holds several runs, not captures."""
    directory = tmp_path / "seeds"
    for seed in ("1", "2"):
        kept(scenario(BULK | {"size": "300 kB"}, wifi=WIFI), directory / seed)
    refused = mptcplab("why", str(directory))
    assert refused.returncode == 2
    assert f"holds several runs: name one of them, such as {directory / '1'}" in refused.stderr
    shutil.rmtree(directory / "2")
    for tries in ((), ("--try",)):
        printed = mptcplab("why", *tries, str(directory))
        assert (printed.returncode, printed.stderr) == (0, ""), "one run is what is meant"
    shutil.rmtree(directory)


def test_a_scenario_is_run_first(mptcplab: Any, tmp_path: Path) -> None:
    """Its name, or its file, is no capture that cannot be read."""
    file = tmp_path / "my own.toml"
    file.write_text(mptcplab("scenarios", "wifi-lte").stdout, "utf-8")
    for source in (str(file), "wifi-lte"):
        refused = mptcplab("why", source, cwd=tmp_path)
        assert refused.returncode == 2
        assert refused.stderr.count("\n") == 1
        assert f"mptcplab run {shlex.quote(source)}, and then mptcplab why" in refused.stderr


@pytest.mark.parametrize("source", [None, 3])
def test_what_is_no_path_is_called_so(source: Any) -> None:
    with pytest.raises(TypeError, match=f"source must be .*, not {type(source).__name__}"):
        package.why(source)


def test_the_remedy_of_a_long_queue_shows_round_trips() -> None:
    """Its gain is delay."""
    from mptcplab.cli.summary.findings import print_tried
    from mptcplab.cli.summary.page import Page

    bloated = scenario(wifi=WIFI | {"queue": "1500 ms"})
    row = {"kind": "bufferbloat", "remedy": named(BBR).words, "cost_s": None}
    rows = tried(Trials(DEFAULT, bloated, (1,), "down"), [row])
    assert rows[0]["rtt_ms_mean"] < rows[0]["rtt_before_ms"] / 2
    stream = io.StringIO()
    print_tried(Page(stream), rows)
    assert "RTT ms" in stream.getvalue()
    # Nothing is tried that is not recommended.
    other = row | {"kind": "timeout_chain", "remedy": "a second path that fails at other times"}
    assert tried(Trials(DEFAULT, bloated, (1,), "down"), [other]) == []


def test_the_remedy_of_a_call_shows_how_it_is_served() -> None:
    """It gains no time: what was late came in time over the other path."""
    from mptcplab.cli.summary.findings import print_tried
    from mptcplab.cli.summary.page import Page

    call = {"application": "constant-bit-rate", "rate": "64 kbit/s", "message": "160 B"}
    call |= {"duration": "20 s", "direction": "download", "deadline": "150 ms"}
    lossy = scenario(call, wifi=WIFI | {"loss": "5 %"}, lte=LTE)
    row = {"kind": "served_worse", "remedy": named(TWICE).words, "cost_s": None}
    rows = tried(Trials(DEFAULT, lossy, (1,), "down"), [row])
    assert rows[0]["late_share"] < rows[0]["late_share_before"]
    assert rows[0]["stall_s"] is None
    stream = io.StringIO()
    print_tried(Page(stream), rows)
    assert "late %" in stream.getvalue()


def test_a_policy_is_tried_with_what_comes_with_it() -> None:
    """ECF has opportunistic retransmission and penalisation, unless the scenario says otherwise."""
    short = scenario(wifi=WIFI, lte=LTE | {"queue": "2 s"})
    long = tomllib.loads(write(load(short)[1]))
    setting = "mptcp.scheduler=ecf"
    with_it = write(load(short, [setting])[1])
    assert write(load(long, [setting])[1]) != with_it
    trials = Trials(DEFAULT, long, (1,), "down")
    assert write(trials.with_settings((setting,))) == with_it
    limited = long | {"mptcp": long["mptcp"] | {"max_subflows": 3}}
    of_three = Trials(DEFAULT, limited, (1,), "down").with_settings((setting,))
    assert tomllib.loads(write(of_three))["mptcp"]["max_subflows"] == 3


def test_of_a_video_what_it_stalls_less_is_gained(tmp_path: Path) -> None:
    """Its rate is what its player chose, so that it is not slower than over one path."""
    video = {"application": "video", "direction": "download", "duration": "40 s", "buffer": "8 s"}
    gone = [event(10, "wifi", "blackout"), event(30, "wifi", "restore")]
    poor = LTE | {"rate": "1 Mbit/s"}
    package.run(
        scenario(video, timeline=gone, wifi=WIFI, lte=poor), out=tmp_path / "run", captures="none"
    )
    why = package.why(tmp_path / "run", tries=True)
    assert "slower_than_single" not in {row["kind"] for row in why.rows}
    assert all(not row["cost_s"] for row in why.rows if row["kind"] == "application")
    assert why.tried_rows
    for row in why.tried_rows:
        assert row["gained_s"] == pytest.approx(row["stall_before_s"] - row["stall_s"])


def test_where_hosts_can_do_nothing_nothing_is_tried(tmp_path: Path) -> None:
    gone = scenario(BULK | {"size": "6 MB"}, timeline=[event(1, "wifi", "detach")])
    found = package.why(kept(gone, tmp_path / "run"), tries=True)
    known = [row for row in found.rows if row["beyond_hosts"]]
    assert "path_dead" in {row["kind"] for row in known}
    assert found.tried_rows is not None
    assert not any("path_dead" in row["kind"] for row in found.tried_rows)


def test_the_page_has_evidence_remedy_and_confidence(tmp_path: Path) -> None:
    """A row for each finding."""
    from mptcplab.charts.run.page import describe
    from mptcplab.charts.run.subject import Subject
    from mptcplab.results.comparison import open_comparison

    directory = kept(scenario(timeline=away("wifi", 2, 4), wifi=WIFI, lte=LTE), tmp_path / "run")
    page = describe(Subject.of(open_comparison(directory)))
    table = next(one for one in page.tables if one.id == "why")
    assert table.columns == ["finding", "from", "to", "confidence", "evidence", "remedy"]
    (row,) = table.rows
    assert row[0].startswith("wifi delivered nothing")
    assert "segments were sent again" in row[4]
    assert "mptcplab guard" in row[5]


@pytest.mark.parametrize(("delay", "longer"), [("12 ms", True), ("100 ms", False)])
def test_requests_are_compared_by_their_response_times(
    mptcplab: Any, tmp_path: Path, delay: str, longer: bool
) -> None:
    """A rate says nothing where an application waits."""
    from mptcplab.results.labels import gain

    asked = scenario(
        ask(response="5 kB", requests=6, think="50 ms"), wifi=WIFI | {"delay": delay}, lte=LTE
    )
    run = package.run(asked, out=tmp_path / "run")
    sentence = gain(run)
    assert "with responses in" in sentence
    assert "Mbit/s" not in sentence
    assert ("wifi with" in sentence) is longer


def test_captures_of_the_other_end_give_no_clean_bill(mptcplab: Any, tmp_path: Path) -> None:
    """What is lost is seen at the sender; why says so as analyze --why does."""
    upload = BULK | {"direction": "upload", "size": "4 MB"}
    directory = kept(scenario(upload, wifi=WIFI), tmp_path / "run")
    printed = " ".join(mptcplab("why", str(directory / "mptcp" / "server.pcapng")).stdout.split())
    assert "give the capture of the client too" in printed
    assert "nothing was found" not in printed
    assert "give the capture" not in mptcplab("why", str(directory)).stdout


def test_which_end_is_missing_is_told_from_where_the_data_went(
    mptcplab: Any, tmp_path: Path
) -> None:
    """The client sends it; what the server sends are a few bytes that ask for it."""
    asked = ask(direction="upload", response="400 kB", think="0 s")
    directory = kept(scenario(asked, wifi=WIFI), tmp_path / "run")
    for command in (["why"], ["analyze", "--why"]):
        for end, missing in (("client", None), ("server", "client")):
            capture = str(directory / "mptcp" / f"{end}.pcapng")
            printed = " ".join(mptcplab(*command, capture).stdout.split())
            if missing is None:
                assert "give the capture" not in printed
            else:
                assert f"give the capture of the {missing} too" in printed


def test_a_run_that_did_not_finish_gets_no_clean_bill(mptcplab: Any, tmp_path: Path) -> None:
    """Its end is the first line, whatever is found."""
    narrow = WIFI | {"middleboxes": [{"element": "mtu", "bytes": "1300 B", "answer": "silent"}]}
    directory = kept(scenario(BULK | {"size": "2 MB"}, wifi=narrow, lte=LTE), tmp_path / "run")
    printed = mptcplab("why", str(directory)).stdout
    assert printed.startswith("MPTCP did not finish: ")
    assert "nothing was found" not in printed


def test_a_remedy_changes_what_the_run_used(tmp_path: Path) -> None:
    """The controller of plain TCP is a setting of its own, which a run keeps."""
    short = {"rate": "20 Mbit/s", "delay": "40 ms", "queue": "8 packets"}
    alone = scenario(BULK | {"size": "8 MB"}, mptcp={"enabled": False}, wifi=short)
    (row,) = package.why(kept(alone, tmp_path / "run"), tries=True).tried_rows or []
    assert row["kind"] == "slow_start_loss"
    assert row["gained_s"] > row["claimed_s"] / 2


def test_what_is_there_already_is_no_remedy() -> None:
    """It is not tried, nor a scheduler where MPTCP never began."""

    bbr = Trials(DEFAULT, scenario(mptcp={"congestion_control": "bbr"}), (1,), "down")
    row = {"remedy": named(BBR).words, "cost_s": None}
    assert tried(bbr, [row | {"kind": "losses_random"}]) == []
    slower = row | {"kind": "slower_than_single", "remedy": named("the scheduler ecf").words}
    stripped = row | {"kind": "stripped", "remedy": "another port (443)"}
    assert tried(bbr, [slower, stripped]) == []


def test_what_guard_takes_out_joins_again() -> None:
    """The path that opened the connection comes back as a further subflow: Linux's limit is two."""

    paths: dict[str, Table] = {"wifi": WIFI, "lte": LTE | {"backup": True}, "lan": LTE}
    gone = scenario(BULK | {"size": "20 MB"}, timeline=away("wifi", 2, 5), **paths)
    row = {"kind": "path_dead", "remedy": named(GUARD).words, "cost_s": 3.0}
    (guarded,) = tried(Trials(DEFAULT, gone, (1,), "down"), [row])
    assert guarded["gained_s"] > 0


def test_a_remedy_that_makes_it_worse_is_said_to() -> None:
    """Whether a cost was claimed or not."""
    from mptcplab.results.findings import tries

    guard = named(GUARD)
    some: list[float] = [4.6]
    for claimed in (some, []):
        assert tries._limit(guard, claimed, -2.6) == "the transfer takes longer with it"
    assert tries._limit(guard, [4.6], -0.01) == guard.limit
    assert tries._limit(guard, [4.6], 2.4) is None


def test_a_run_that_is_not_there_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "walk-1").mkdir()
    with pytest.raises(package.Error, match=r"wlk-1: no such .*; did you mean .*walk-1\?"):
        package.why(tmp_path / "wlk-1")


@pytest.mark.parametrize(
    "command",
    [["why"], ["why", "--json"], ["why", "--try"], ["report"], ["compare", "{}"]],
    ids=" ".join,
)
def test_a_run_whose_findings_are_gone_gets_no_clean_bill(
    mptcplab: Any, tmp_path: Path, command: list[str]
) -> None:
    """A line says what is missing, where, and what to do."""
    directory = kept(scenario(BULK | {"size": "1 MB"}, wifi=WIFI), tmp_path / "run")
    tables = directory / "mptcp" / "tables"
    (tables / "findings.parquet").unlink()
    refused = mptcplab(*(word.format(directory) for word in command), str(directory))
    assert refused.returncode == 2
    (line,) = refused.stderr.splitlines()
    missing = f"{tables / 'findings.parquet'} is missing: remove {tables.parent} and run it again"
    assert missing in line


def test_a_table_that_is_gone_is_not_an_empty_one(tmp_path: Path) -> None:
    """But for logs and probes, which runs of earlier versions did not have."""
    directory = kept(scenario(BULK | {"size": "1 MB"}, wifi=WIFI), tmp_path / "run") / "mptcp"
    for name in sorted(set(Tables.NAMES) - ADDED):
        (directory / "tables" / f"{name}.parquet").unlink()
        with pytest.raises(package.Error, match=f"{name}.parquet is missing: remove"):
            package.open_run(directory).tables.table(name)
