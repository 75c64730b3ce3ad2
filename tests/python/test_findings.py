"""Findings: provoked ones are found, and nothing is found where nothing is wrong.

The whole matrix is that of ``experiments/findings``; this is a sample of it.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import mptcplab as package
from experiments.findings import table
from experiments.findings.provoked import provoked
from experiments.findings.run import found
from experiments.findings.scenarios import (
    ASK,
    BULK,
    LTE,
    SMALL_WINDOW,
    WIFI,
    ask,
    away,
    box,
    event,
    scenario,
    silent,
    talk,
)
from mptcplab import _core
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

EXAMPLES = Path(__file__).parents[2] / "examples"
# The last scenario of each kind.
PROVOKED = {case.kind: case for case in provoked()}


def rows(table: dict[str, Any]) -> list[dict[str, Any]]:
    """Simulate a scenario; give its findings."""
    _, loaded = load(table)
    return list(_core.simulate(plan(loaded, 1, None)).rows("findings"))


@pytest.mark.parametrize("kind", sorted(PROVOKED))
def test_what_is_provoked_is_found(kind: str) -> None:
    """One scenario of each kind; costs never add up to more than the transfer took."""
    case = PROVOKED[kind]
    result = found(case.table, 1, view=case.view)
    assert kind in result["found"]
    assert sum(cost or 0 for cost in result["found"].values()) <= result["elapsed_s"]


@pytest.mark.parametrize("number", range(0, 24, 6))
def test_nothing_is_found_where_nothing_is_wrong(number: int) -> None:
    """Some of the clean scenarios."""
    _, clean = list(silent())[number]
    assert found(clean, 1)["found"] == {}


@pytest.mark.parametrize("name", ["far", "tiny queues"])
def test_nothing_is_said_of_what_does_not_show(name: str) -> None:
    """A window that the receiver still widens over a long way; losses of a queue of two packets."""
    clean = dict(silent())[name]
    assert found(clean, 1)["found"] == {}


def test_the_matrix_that_is_kept_is_right() -> None:
    """At least nine of ten are found, and at most one clean run of a hundred has a wrong one."""
    kept = table.kept()
    provoked = [row for row in kept if row["provokes"]]
    clean = [row for row in kept if not row["provokes"]]
    hit = [row for row in provoked if row["name"] in row["found"]]
    assert {row["name"] for row in provoked} == set(PROVOKED)
    assert len(hit) >= 0.9 * len(provoked)
    assert len(clean) >= 200
    assert sum(bool(table.wrong(row)) for row in clean) <= 0.01 * len(clean)
    assert not [row for row in provoked if table.wrong(row)]
    assert not [row for row in hit if not table.is_right(row)]
    assert not [row for row in hit if not table.keeps_promise(row)]


def test_a_cost_is_empty_where_the_best_rate_is_the_windows_own() -> None:
    """With 64 kB throughout, nothing in the capture tells what the paths would carry."""
    far = {"wifi": WIFI | {"delay": "80 ms"}, "lte": LTE | {"delay": "80 ms"}}
    tiny = {"receive_buffer": "64 kB", "receive_buffer_tuning": False}
    assert found(scenario(tcp=tiny, wifi=far["wifi"], lte=far["lte"]), 1)["found"] == {
        "receive_window": None
    }


def test_what_a_path_sends_again_itself_is_no_slow_path() -> None:
    """Of a path that dies, the data comes over the other, late: that one is not to blame."""
    kinds = [row["kind"] for row in rows(PROVOKED["path_dead"].table)]
    assert kinds[0] == "path_dead"
    assert "head_of_line" not in kinds


NEAR = {"uplink_rate": "5 Mbit/s", "downlink_rate": "25 Mbit/s", "delay": "12 ms", "jitter": "1 ms"}
FARTHER = {"uplink_rate": "2 Mbit/s", "downlink_rate": "16 Mbit/s", "delay": "25 ms"}


@pytest.mark.parametrize(
    ("verb", "back", "told"), [("blackout", "restore", False), ("detach", "attach", True)]
)
def test_an_upload_over_a_path_that_dies_lost_nothing_to_the_radio(
    verb: str, back: str, told: bool
) -> None:
    """What was on it had arrived, without an answer; when it is back, its queue overflows."""
    queue = {"queue": "100 kB"}
    gone = scenario(
        {"direction": "upload", "size": "20 MB"},
        timeline=[event(5, "wifi", verb), event(13, "wifi", back)],
        wifi=NEAR | queue | {"loss": "0.1 %"},
        lte=FARTHER | queue | {"jitter": "3 ms"},
    )
    found = [row for row in rows(gone) if row["kind"] != "bufferbloat"]
    assert [row["kind"] for row in found] == ["path_dead"]
    message = found[0]["message"]
    assert ("and nothing told the client that it was dead; lte waited" in message) is not told
    # Who knows it at once suspends nothing sooner.
    assert ("guard" in found[0]["remedy"]) is not told


def test_a_path_whose_address_a_nat_changes_is_dead_for_that() -> None:
    """The server resets what comes from the new address, and goes on sending to the old one."""
    told = rows(scenario(BULK | {"size": "20 MB"}, timeline=[event(2, "wifi", "rebind")]))
    (dead,) = [row for row in told if row["kind"] == "path_dead"]
    assert "to the end, since a NAT changed its address to 10.0.1.99; lte waited" in dead["message"]


def test_a_path_that_was_detached_was_not_left_unused() -> None:
    """Its subflow stays open without an end, and the path comes back with another one."""
    back = {"uplink_rate": "20 Mbit/s", "downlink_rate": "10 Mbit/s"}
    gone = scenario(
        {"direction": "upload", "size": "8 MB"},
        timeline=[event(1, "wifi", "detach"), event(6, "wifi", "attach")],
        wifi=back | {"delay": "20 ms", "queue": "200 ms", "loss": "0.05 %"},
        lte=back | {"delay": "50 ms", "queue": "30 ms", "loss": "0.3 %", "jitter": "1 ms"},
    )
    assert "capacity_unused" not in [row["kind"] for row in rows(gone)]


def test_what_comes_again_after_the_end_costs_nothing() -> None:
    """Wi-Fi is back when all has come over LTE, and delivers what it held once more."""
    asked = ask(think="100 ms", response="100 kB", requests=5)
    wifi = {"rate": "5 Mbit/s", "delay": "20 ms", "queue": "50 kB", "jitter": "3 ms"}
    lte = {"uplink_rate": "2 Mbit/s", "downlink_rate": "5 Mbit/s", "delay": "50 ms"}
    told = rows(
        scenario(asked, timeline=away("wifi", 0.5, 5.5), wifi=wifi, lte=lte | {"queue": "30 ms"})
    )
    assert "reinjection_waste" not in [row["kind"] for row in told]
    assert all(row["from_s"] <= row["to_s"] for row in told)


def test_a_path_that_jitters_did_not_become_slower() -> None:
    """Hardly a round trip takes the least of all, and losses slow it down now and then."""
    jitters = {"queue": "100 packets", "jitter": "3 ms"}
    told = rows(
        scenario(
            BULK | {"size": "20 MB"},
            wifi={"uplink_rate": "10 Mbit/s", "downlink_rate": "20 Mbit/s", "delay": "12 ms"}
            | jitters
            | {"loss": "0.3 %"},
            lte={"rate": "2 Mbit/s", "delay": "50 ms"} | jitters | {"queue": "50 kB"},
        )
    )
    assert "path_slowed" not in [row["kind"] for row in told]


def test_a_path_that_loses_one_packet_of_a_hundred_is_told() -> None:
    """That takes three times as long, and the retransmissions are a little less than 1 %."""
    for loss_percent in ("0.8 %", "1 %"):
        lossy = {"loss": loss_percent}
        told = rows(scenario(wifi=WIFI | lossy, lte=LTE | lossy))
        # Beside it the slower path may hold up the other, as its losses wait for retransmissions.
        assert {row["kind"] for row in told} - {"head_of_line"} == {"losses_random"}, loss_percent


def test_a_firewall_that_resets_joins_is_no_limit() -> None:
    """The captures of both ends show that the server got no SYN and sent no reset."""
    (told,) = rows(scenario(wifi=WIFI, lte=box(LTE, "firewall", joins=False, reset=True)))
    assert told["kind"] == "join_refused"
    assert "a middlebox reset it: the SYN never reached the server" in told["message"]
    assert "limits" not in told["remedy"]


def test_each_outage_is_a_finding_of_its_own() -> None:
    """Two blackouts with 5 s between them are two rows, in their times."""
    events = [*away("wifi", 2, 5), *away("wifi", 10, 13)]
    one = scenario(BULK | {"size": "30 MB"}, timeline=events, wifi=WIFI)
    told = [row for row in rows(one) if row["kind"] in ("outage", "timeout_chain")]
    assert len(told) == 2
    first, second = sorted(told, key=lambda row: row["from_s"])
    assert first["to_s"] <= second["from_s"]
    assert 1.9 < first["from_s"] < 2.2
    assert second["from_s"] == pytest.approx(10, abs=0.3)


def costs(table: dict[str, Any]) -> dict[str, float | None]:
    """Simulate a scenario; give what was found, with the costs."""
    told: dict[str, float | None] = found(table, 7)["found"]
    return told


def test_a_forgotten_subflow_is_the_cause_and_the_pauses_cost_nothing() -> None:
    """A NAT forgets Wi-Fi between two answers: it is told once, in place of a dead path."""
    asked = ask(think="15 s", requests=3, response="1 MB")
    nat = scenario(asked, wifi=box(WIFI, "nat", idle="10 s"), lte=LTE)
    # What Wi-Fi would have carried does not show.
    told = costs(nat)
    assert set(told) == {"forgotten", "application"}
    assert told["forgotten"] is None
    assert sum(row["kind"] == "forgotten" for row in rows(nat)) == 1


def test_a_dead_path_holds_up_nothing_while_there_is_nothing_to_send() -> None:
    """Wi-Fi is away during a pause of 8 s between two answers, and back before it ends."""
    asked = ask(think="8 s", requests=3, response="1 MB")
    gone = scenario(asked, timeline=away("wifi", 0.35, 6))
    told = costs(gone)
    true_s = found(gone, 7)["elapsed_s"] - found(scenario(asked), 7)["elapsed_s"]
    assert (told.get("path_dead") or 0) <= max(1.5 * true_s, 0.5)


def test_a_path_that_says_how_large_packets_may_be_costs_nothing() -> None:
    """The sender hears of the limit and sends smaller segments at once."""
    narrow = box(WIFI, "mtu", bytes="1300 B")
    assert costs(scenario(wifi=narrow, lte=LTE)) == {}


def test_a_transfer_that_never_goes_on_is_told() -> None:
    """Wi-Fi is gone at 2 s, for good, and the capture ends 15 s later."""
    dead = scenario(timeline=[event(2, "wifi", "blackout")], wifi=WIFI) | {"run": {"stop": "17 s"}}
    (told,) = rows(dead)
    assert told["kind"] == "timeout_chain"
    assert told["from_s"] == pytest.approx(2, abs=0.2)
    assert told["to_s"] > 10
    assert told["cost_s"] is None


def test_data_that_comes_twice_costs_nothing_where_no_queue_stands() -> None:
    """A constant bit rate over both paths, far below what they carry."""
    calls = scenario(talk("1 Mbit/s"), mptcp={"scheduler": "redundant"})
    assert costs(calls) == {"reinjection_waste": None}


def test_a_path_that_waits_for_a_slow_one_is_not_left_unused() -> None:
    """Behind 1 Mbit/s the other path has nothing to send for more than half of the time."""
    slow = {"rate": "1 Mbit/s", "delay": "60 ms", "queue": "800 ms"}
    told = costs(
        scenario(BULK | {"direction": "upload"}, wifi=WIFI | {"rate": "30 Mbit/s"}, lte=slow)
    )
    assert "head_of_line" in told
    assert "capacity_unused" not in told


def test_slow_start_that_a_time_out_ended_did_not_end_early() -> None:
    """An outage of 300 ms in slow start."""
    gone = scenario(timeline=away("wifi", 0.15, 0.45), wifi=WIFI, mptcp={"enabled": False})
    assert "slow_start_early" not in costs(gone)


def test_a_host_with_one_path_lacks_no_second_one() -> None:
    """Nobody announced an address, and there is no other interface."""
    assert found(scenario(BULK | {"size": "24 MB"}, wifi=WIFI), 1)["found"] == {}


def test_a_proxy_explains_that_mptcp_did_not_begin_at_the_server() -> None:
    """Neither that nor the proxy's window is told beside it."""
    one = scenario(lte=box(LTE, "proxy"))
    assert set(found(one, 1)["found"]) == {"split_connection"}


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
    place = tmp_path_factory.mktemp("why") / "slow"
    mptcplab.run(one, out=str(place))
    return place


def test_why_tells_what_only_the_runs_beside_it_know(mptcplab: Any, directory: Path) -> None:
    """MPTCP was slower than Wi-Fi alone; run and its document say so, too."""
    told = json.loads(mptcplab("why", "--json", str(directory)).stdout)["findings"]
    (slower,) = [row for row in told if row["kind"] == "slower_than_single"]
    assert "slower than TCP over wifi alone" in slower["message"]
    assert slower["cost_mbps"] is None or slower["cost_s"] > 0
    from mptcplab.results.comparison import open_comparison

    assert open_comparison(directory).document()["findings"] == told
    assert package.why(directory).findings.rows(named=True) == told
    capture = EXAMPLES / "outage" / "client.pcapng.gz"
    assert package.why(capture).findings.equals(package.analyze(capture).findings)


def test_why_tries_remedies_with_the_same_seed(mptcplab: Any, directory: Path) -> None:
    """The scheduler that heeds delays, tried, gains most of what Wi-Fi alone shows to be lost."""
    why = package.why(directory, tries=True)
    gained = {row["remedy"]: row["gained_s"] for row in why.tried.rows(named=True)}
    assert gained["the scheduler blest"] > 1
    tried = json.loads(mptcplab("why", "--try", "--json", str(directory)).stdout)["tried"]
    assert why.tried_rows == tried
    printed = mptcplab("why", "--try", str(directory)).stdout
    assert "the scheduler blest" in printed


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
    assert "none of what a dead path would have carried" in tried["limit"]
    told = json.loads(mptcplab("why", "--try", "--json", *map(str, captures)).stdout)
    assert [told["findings"], told["tried"]] == [why.rows, why.tried_rows]
    assert told["model"] == why.model
    printed = mptcplab("why", "--try", *map(str, captures)).stdout
    assert "a model of connection 0" in printed


def captured(table: dict[str, Any], place: Path) -> list[Path]:
    """Simulate a scenario; give the captures of both ends."""
    run = package.run(table, out=place / "run", baselines=False, captures="headers")
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


def test_what_a_model_does_not_show_is_named() -> None:
    """Nothing is tried against that."""
    from mptcplab.cli.summary.findings import print_model
    from mptcplab.cli.summary.page import Page

    model = {"connection": 0, "captured_s": 9.0, "taken_s": 9.1, "off": 0.01, "holds": True}
    stream = io.StringIO()
    print_model(Page(stream), model | {"shown": ["path_dead"]}, [{"kind": "reinjection_waste"}])
    assert "it does not show the finding “data sent twice”" in stream.getvalue()


def test_nothing_is_concluded_from_a_model_that_is_off(mptcplab: Any, tmp_path: Path) -> None:
    """Who asks now and then takes longer than who sends all at once."""
    asked = scenario(ASK | {"response": "200 kB", "requests": 4})
    captures = list(map(str, captured(asked, tmp_path)))
    told = json.loads(mptcplab("why", "--try", "--json", *captures).stdout)
    assert not told["model"]["holds"]
    assert told["tried"] == []
    assert "and so nothing is concluded from it" in mptcplab("why", "--try", *captures).stdout


def test_captures_that_tell_too_little_for_a_model_are_refused_in_a_line(mptcplab: Any) -> None:
    """Without the sender's end there are no round trips; a few bytes are no transfer."""
    client = EXAMPLES / "refused" / "client.pcapng.gz"
    refused = mptcplab("why", "--try", str(client))
    assert refused.returncode == 2
    assert re.fullmatch(r"mptcplab: .*client.pcapng.gz: no round-trip times.*\n", refused.stderr)


def test_the_three_rules_of_runs_look_at_the_connection_of_the_transfer() -> None:
    """What another connection, or the other direction, lost is no explanation."""
    from mptcplab.results.findings import path_unused, send_buffer, slower

    comparison = _comparison()
    (told,) = slower.find(comparison, [])
    assert told["kind"] == "slower_than_single"
    assert told["cost_s"] == pytest.approx(5.0)
    explained = {"kind": "path_dead", "cost_s": 2.0, "confidence": 0.9, "subflow": 0}
    (less,) = slower.find(comparison, [explained])
    assert less["cost_s"] == pytest.approx(3.0)
    assert less["message"].endswith("; the finding “dead path” explains 2.00 s of 5.00 s")
    # A small window may be the main cause, whatever it cost; a long queue is none.
    window = explained | {"kind": "receive_window", "cost_s": None}
    unknown = [explained | {"kind": "bufferbloat", "cost_s": None}, window]
    (told,) = slower.find(comparison, unknown)
    assert told["message"].endswith("lone; see the finding “small receive window”")
    (told,) = slower.find(comparison, [explained, *unknown])
    assert told["message"].endswith(
        "explains 2.00 s of 5.00 s; see the finding “small receive window”"
    )
    (told,) = slower.find(comparison, [explained | {"cost_s": 4.0}, *unknown])
    assert told["message"].endswith("explains 4.00 s of 5.00 s")
    # That the scheduler left it idle tells less: this has its cost.
    idle = {"kind": "capacity_unused", "cost_s": None, "confidence": 0.6, "subflow": 1}
    (unused,) = path_unused.find(comparison, [idle])
    assert unused["cost_s"] == pytest.approx(5.0)
    assert unused["message"].startswith("lte carried 0.10 Mbit/s, but plain TCP over it alone")
    assert path_unused.find(comparison, [explained | {"subflow": 1}]) == []
    # A window is shared, and who has no more to send needs no further path.
    for kind in ("receive_window", "application"):
        assert path_unused.find(comparison, [explained | {"kind": kind, "subflow": None}]) == []
    comparison.mptcp.scenario = {"transfer": {"application": "constant-bit-rate"}}
    assert path_unused.find(comparison, []) == []
    (buffer,) = send_buffer.find(comparison, [])
    assert buffer["evidence"].startswith(
        "the kernel counted 400 ms of waiting for the buffer in 1000"
    )
    assert send_buffer.find(comparison, [explained | {"kind": "receive_window"}]) == []


@pytest.mark.parametrize(("ended_s", "found"), [(0.3, False), (3.0, True)])
def test_a_join_that_meets_its_connections_end_reached_no_limit(
    ended_s: float, found: bool
) -> None:
    """Linux counts both as rejected."""
    from types import SimpleNamespace

    from mptcplab.results.findings import join_limit

    tables = {
        "connections": [{"connection": 0, "start_s": 0.0, "duration_s": ended_s}],
        "subflows": [{"connection": 0, "kind": "join", "handshake": "refused", "start_s": 0.1}],
        "counters": [{"host": "server", "counter": join_limit.COUNTER, "before": 2, "after": 3}],
    }
    run = SimpleNamespace(tables=SimpleNamespace(rows=lambda name: tables[name]))
    told = join_limit.find(SimpleNamespace(mptcp=run), [])  # type: ignore[arg-type]
    assert [row["kind"] for row in told] == ["join_limit"] * found


# Of a subflow that joined, each 100 ms, by Linux 6.18 over 20 and 10 Mbit/s, 30 and 70 ms: busy,
# limited by the buffer, queued, in flight, window. The first two had 4 MB of buffer, and as much
# throughput with 64 MB; the third had 128 kB, and gained a quarter with 256 kB.
NEVER_ENDED = [
    *((8.0, 8.0, 8_704, 10, 10), (108.0, 108.0, 96, 17, 20), (208.0, 208.0, 5_648, 40, 40)),
    *((308.0, 308.0, 133_664, 87, 87), (408.0, 408.0, 162_192, 168, 168)),
]
OF_A_SHORT_TRANSFER = [(8.0, 8.0, 4_464, 10, 10), (108.0, 108.0, 96, 8, 20)]
LIMITED = [
    *((0.0, 0.0, 0, 0, 10), (96.0, 0.0, 22_736, 20, 20), (196.0, 0.0, 0, 16, 40)),
    *((296.0, 0.0, 0, 43, 59), (396.0, 0.0, 1_376, 53, 88), (496.0, 20.0, 0, 46, 91)),
    *((592.0, 116.0, 0, 46, 91), (696.0, 220.0, 1_376, 47, 91)),
    (796.0, 320.0, 1_376, 52, 91),
]


@pytest.mark.parametrize(
    ("samples", "found"),
    [(NEVER_ENDED, False), (OF_A_SHORT_TRANSFER, False), (LIMITED, True)],
)
def test_a_count_that_goes_on_beside_a_full_window_is_no_small_send_buffer(
    samples: list[tuple[float, float, int, int, int]], found: bool
) -> None:
    import polars as pl

    from mptcplab.results.findings import send_buffer

    names = ("busy_ms", "buffer_limited_ms", "queued_bytes", "in_flight_packets", "cwnd_packets")
    rows = [
        {"connection": 0, "subflow": 1, "host": "server", "at_ns": at * 100_000_000}
        | dict(zip(names, sample, strict=True))
        for at, sample in enumerate(samples, start=1)
    ]
    comparison = _comparison()
    comparison.mptcp.state = pl.DataFrame(rows)
    assert bool(send_buffer.find(comparison, [])) is found


def test_a_small_send_buffer_is_told_once() -> None:
    """It is the connection's, however many of its subflows count it."""
    import polars as pl

    from mptcplab.results.findings import send_buffer

    names = ("busy_ms", "buffer_limited_ms", "queued_bytes", "in_flight_packets", "cwnd_packets")
    rows = [
        {"connection": 0, "subflow": subflow, "host": "server", "at_ns": at * 100_000_000}
        | dict(zip(names, sample, strict=True))
        for subflow in (0, 1)
        for at, sample in enumerate(LIMITED, start=1)
    ]
    comparison = _comparison()
    comparison.mptcp.state = pl.DataFrame(rows)
    (told,) = send_buffer.find(comparison, [])
    assert "subflow" not in told
    assert "(subflow 0)" in told["evidence"]
    assert "(subflow 1)" in told["evidence"]


@pytest.mark.parametrize(
    ("flying", "queued", "window", "found"),
    [
        (40, 1300, None, True),
        (40, 1300, 200_000, True),
        (90, 0, None, False),
        (40, 9000, None, False),
        (40, 0, 60_000, False),
    ],
)
def test_samples_show_a_small_send_buffer_where_nothing_else_limits(
    flying: int, queued: int, window: int | None, found: bool
) -> None:
    """Room in the subflow's window of 90 packets and in the peer's, and nothing to send."""
    import polars as pl

    from mptcplab.results.findings import send_buffer

    rows = [
        {
            **{"connection": 0, "subflow": 0, "host": "server", "at_ns": at, "cwnd_packets": 90},
            **{"in_flight_packets": flying, "queued_bytes": queued, "peer_window_bytes": window},
            # Written, acknowledged, and at last nothing more.
            "unacknowledged_bytes": 59_000 + at % 2 if at < 10 else 59_000 - at,
        }
        for at in range(20)
    ]
    comparison = _comparison()
    comparison.mptcp.state = pl.DataFrame(rows)
    assert bool(send_buffer.find(comparison, [])) is found
    comparison.mptcp.scenario = {"transfer": {"application": "request-response"}}
    assert send_buffer.find(comparison, []) == []


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
    place = tmp_path / "out"
    printed = mptcplab("sweep", str(tmp_path / "windows.toml"), "--out", str(place)).stdout
    assert "why buffer 64 kB: small receive window in 2 of 2" in printed
    campaign = Campaign(place)
    rows = campaign.findings.select("configuration", "finding", "runs", "of").rows()
    assert (0, "receive_window", 2, 2) in rows
    assert not [row for row in rows if row[:2] == (1, "receive_window")]
    tables = {one.id: one for one in describe(campaign).tables}
    assert ["64 kB", "small receive window", "2 of 2", "–"] in tables["findings"].rows


def test_compare_says_which_came_and_which_went(mptcplab: Any, tmp_path: Path) -> None:
    """With a larger buffer the window's finding is gone; over seeds they are counted."""
    (tmp_path / "far.toml").write_text(FAR)
    for name, buffer in (("small", "64 kB"), ("large", "4 MB")):
        words = ["run", str(tmp_path / "far.toml"), "--no-baselines", "--repeat", "2"]
        words += ["--set", f"tcp.receive_buffer={buffer}"]
        words += ["--set", "tcp.receive_buffer_tuning=false", "--out", str(tmp_path / name)]
        printed = mptcplab(*words).stdout
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
    assert "slower than TCP over wifi alone" in page.verdict[0] + page.verdict[1] + page.verdict[2]
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


def _comparison() -> Any:
    """A run that took 10 s where plain TCP over Wi-Fi takes 5 s, and hardly used LTE."""
    from types import SimpleNamespace

    import polars as pl

    def run(mbps: float) -> Any:
        return SimpleNamespace(throughput_mbps=mbps, outcome={"finished": True})

    tables = {
        "subflows": [
            {
                "connection": 0,
                "subflow": number,
                "path": path,
                "join_time_ms": 50.0,
                "handshake": "established",
                "backup": False,
            }
            for number, path in enumerate(("wifi", "lte"))
        ],
        "flows": [
            {"connection": 0, "subflow": 0, "direction": "down", "throughput_mbps": 7.9},
            {"connection": 0, "subflow": 1, "direction": "down", "throughput_mbps": 0.1},
            {"connection": 0, "subflow": 1, "direction": "up", "throughput_mbps": 9.0},
        ],
    }
    state = pl.DataFrame(
        [
            {
                "connection": 0,
                "subflow": 0,
                "host": "server",
                "at_ns": 1_000_000_000,
                "busy_ms": 1000.0,
                "buffer_limited_ms": 400.0,
                "queued_bytes": 0,
                "in_flight_packets": 20,
                "cwnd_packets": 40,
            }
        ]
    )
    mptcp = SimpleNamespace(
        throughput_mbps=8.0,
        transfer={"connection": 0, "direction": "down", "elapsed_s": 10.0, "bytes": 10_000_000},
        tables=SimpleNamespace(rows=lambda name, connection=None: tables[name]),
        state=state,
        scenario={},
        outcome={"finished": True},
    )
    beside = {"wifi": run(16.0), "lte": run(8.0)}
    return SimpleNamespace(mptcp=mptcp, baselines=beside, gain=-0.5, best_path="wifi")


def test_one_capture_is_no_all_clear(mptcplab: Any) -> None:
    """A path was dead, which only the sender's capture shows."""
    captures = [str(EXAMPLES / "outage" / f"{end}.pcapng.gz") for end in ("client", "server")]
    needed = "give the capture of the server too"
    assert needed in mptcplab("analyze", "--why", captures[0]).stdout
    assert needed not in mptcplab("analyze", "--why", *captures).stdout


def test_findings_alike_share_their_remedy() -> None:
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
        "capture": "client.pcapng",
        "record": 7,
    }
    other = one | {"message": "lte: a long queue", "record": None, "capture": None}
    outage = one | {"kind": "outage", "message": "nothing came", "cost_s": 1.0, "cost_mbps": None}
    stream = io.StringIO()
    print_all(Page(stream), [one, outage, other], directory=Path("runs/one/mptcp"))
    first, alike = stream.getvalue().split("\n\n")
    assert first.startswith("nothing came")
    assert alike.count("a long queue") == 2
    assert alike.count("a shorter queue") == 1
    assert "runs/one/mptcp/client.pcapng packet 7" in alike


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
