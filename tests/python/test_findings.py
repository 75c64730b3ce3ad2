"""Findings: provoked ones are found, and nothing is found where nothing is wrong.

The whole matrix is that of ``experiments/findings``; this is a sample of it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import mptcplab
from experiments.findings import table
from experiments.findings.provoked import provoked
from experiments.findings.run import found
from experiments.findings.scenarios import (
    BULK,
    LTE,
    WIFI,
    ask,
    away,
    box,
    event,
    link,
    scenario,
    silent,
    talk,
)
from mptcplab import _core
from mptcplab.results.findings.remedies import declared
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

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


def test_a_dead_path_is_told_to_who_sends_at_a_pace_and_catches_up() -> None:
    """The transfer ends no later, but its data waited."""
    paths = ({"rate": "8 Mbit/s", "delay": delay, "queue": "80 ms"} for delay in ("10 ms", "25 ms"))
    sends = talk("5 Mbit/s", "15 s") | {"deadline": "400 ms"}
    wifi, lte = paths
    findings = rows(scenario(sends, timeline=away("wifi", 4, 7), wifi=wifi, lte=lte))
    (dead,) = [row for row in findings if row["kind"] == "path_dead"]
    assert (dead["subflow"], round(dead["from_s"])) == (0, 4)
    assert 0.5 < dead["cost_s"] < 1.5


def test_a_path_that_finds_its_rate_slowly_after_others_left_it_became_slower_before() -> None:
    """Where no packets wait its sender is slow; and no path is slow beside one that is lossy."""
    wifi: dict[str, Any] = {"rate": "6 Mbit/s", "delay": "15 ms", "queue": "80 ms"}
    lte = {"rate": "14 Mbit/s", "delay": "32 ms", "queue": "80 ms"}
    whole = scenario(BULK | {"size": "20 MB"}, wifi=wifi, lte=lte)
    others = {"kind": "udp", "link": "lte", "rate": "11 Mbit/s", "start": "2 s", "stop": "9 s"}
    (slow,) = [
        row for row in rows(whole | {"cross_traffic": [others]}) if row["kind"] == "path_slowed"
    ]
    assert 3.6 < slow["cost_s"] < 8.2, "5.5 s by the run without"
    assert abs(slow["from_s"] - 2) < 0.5
    lossy = scenario(BULK | {"size": "30 MB"}, wifi=wifi, lte=lte | {"loss": "3 %"})
    lossy["path"]["g"] = wifi | {"rate": "4 Mbit/s", "delay": "20 ms"}
    assert "path_slowed" not in {row["kind"] for row in rows(lossy)}


def test_a_window_that_an_older_subflow_widens_is_no_finding() -> None:
    """It is the connection's: a box on the second path takes nothing away."""
    clamped = box(LTE, "clamp-window", bytes="30 kB")
    assert "window_clamped" not in {row["kind"] for row in rows(scenario(wifi=WIFI, lte=clamped))}


@pytest.mark.parametrize("name", ["far", "tiny queues"])
def test_nothing_is_said_of_what_does_not_show(name: str) -> None:
    """A window that the receiver still widens over a long way; why a queue of two packets loses."""
    clean = dict(silent())[name]
    assert set(found(clean, 1)["found"]) <= {"losses_unclear"}


def test_a_long_queue_has_the_round_trips_of_its_own_time() -> None:
    """Before, the path was fast, and most round trips were short."""
    wifi = {"rate": "20 Mbit/s", "delay": "12 ms", "queue": "20 kB"}
    slower = [event(12, "wifi", "profile") | {"link": "slow"}]
    one = scenario(BULK | {"size": "34 MB"}, timeline=slower, wifi=wifi)
    findings = rows(one | {"link": {"slow": link("4 Mbit/s", "12 ms", "200 ms")}})
    (queue,) = [row for row in findings if row["kind"] == "bufferbloat"]
    found = re.search(r"took (\d+) ms and more instead of (\d+) ms", queue["message"])
    assert found, queue["message"]
    often_ms, least_ms = map(int, found.groups())
    # After a loss, CUBIC leaves seven tenths of what was in flight.
    assert least_ms + 0.7 * 200 <= often_ms <= least_ms + 200


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
    assert not [row["name"] for row in hit if not table.is_right(row)]


# What no scenario here can try: a server that takes fewer subflows than the client asks for, and
# a receiver that is stuck, which comes by chance. A best path that is a backup has its own test.
UNTRIED = {
    "limits of 4 subflows with a receive buffer that grows, to 25 MB",
    "a receive buffer of 6 MB from the start",
    "the best path as a regular one",
    "a send buffer of 16 MB with the other paths as backups",
}


def test_every_remedy_that_is_recommended_keeps_its_promise() -> None:
    """It gives half of the cost claimed, or says that it does not; of several, each is judged."""
    assert all(remedy.limit in remedy.words for remedy in declared().values())
    rows = [row for row in (*table.kept(), *table.drawn()) if row["provokes"]]
    tried = [one for row in rows for _, one, _ in table.promises(row)]
    names = {remedy.name for remedy in declared().values()}
    assert {one["remedy"] for one in tried} == names - UNTRIED
    assert not [(row["name"], row["tried"]) for row in rows if not table.keeps_promise(row)]
    # What is gained of a long queue is delay.
    queues = [one["rtt_ms"] for one in tried if "rtt_ms" in one]
    assert queues
    assert all(after < before for before, after in queues)


@pytest.mark.parametrize(
    ("gained_s", "claimed", "limit", "is_kept"),
    [
        (2.0, 4.0, None, True),
        (1.9, 4.0, None, False),
        (1.9, 4.0, "gives a part", True),
        (-0.2, 4.0, "gives a part", True),
        (-0.5, 4.0, "gives a part", False),
        (-0.05, None, None, True),
        (-0.2, None, None, False),
        (None, 4.0, None, True),
    ],
)
def test_a_remedy_that_gives_less_without_saying_so_breaks_its_promise(
    gained_s: float | None, claimed: float | None, limit: str | None, is_kept: bool
) -> None:
    one = {"remedy": "another", "gained_s": gained_s} | ({"limit": limit} if limit else {})
    best = {"remedy": "the best", "gained_s": 4.0}
    row: dict[str, Any] = {"name": "a", "found": {"a": 9.0, "b": claimed}, "elapsed_s": 10.0}
    row["tried"] = {"b": [best, one]}
    assert table.keeps_promise(row) is is_kept


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
    ("verb", "back", "is_told"), [("blackout", "restore", False), ("detach", "attach", True)]
)
def test_an_upload_over_a_path_that_dies_lost_nothing_to_the_radio(
    verb: str, back: str, is_told: bool
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
    assert ("and nothing told the client that it was dead; lte waited" in message) is not is_told
    # Who knows it at once suspends nothing sooner.
    assert ("guard" in found[0]["remedy"]) is not is_told


def test_a_path_whose_address_a_nat_changes_is_dead_for_that() -> None:
    """The server resets what comes from the new address, and goes on sending to the old one."""
    findings = rows(scenario(BULK | {"size": "20 MB"}, timeline=[event(2, "wifi", "rebind")]))
    (dead,) = [row for row in findings if row["kind"] == "path_dead"]
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
    findings = rows(
        scenario(asked, timeline=away("wifi", 0.5, 5.5), wifi=wifi, lte=lte | {"queue": "30 ms"})
    )
    assert "reinjection_waste" not in [row["kind"] for row in findings]
    assert all(row["from_s"] <= row["to_s"] for row in findings)


def test_a_path_that_jitters_did_not_become_slower() -> None:
    """Hardly a round trip takes the least of all, and losses slow it down now and then."""
    jitters = {"queue": "100 packets", "jitter": "3 ms"}
    findings = rows(
        scenario(
            BULK | {"size": "20 MB"},
            wifi={"uplink_rate": "10 Mbit/s", "downlink_rate": "20 Mbit/s", "delay": "12 ms"}
            | jitters
            | {"loss": "0.3 %"},
            lte={"rate": "2 Mbit/s", "delay": "50 ms"} | jitters | {"queue": "50 kB"},
        )
    )
    assert "path_slowed" not in [row["kind"] for row in findings]


def test_a_path_that_loses_one_packet_of_a_hundred_is_told() -> None:
    """That takes three times as long, and the retransmissions are a little less than 1 %."""
    for loss_percent in ("0.8 %", "1 %"):
        lossy = {"loss": loss_percent}
        findings = rows(scenario(wifi=WIFI | lossy, lte=LTE | lossy))
        # Beside it the slower path may hold up the other, as its losses wait for retransmissions.
        assert {row["kind"] for row in findings} - {"head_of_line"} == {"losses_random"}, (
            loss_percent
        )


def test_a_firewall_that_resets_joins_is_no_limit() -> None:
    """The captures of both ends show that the server got no SYN and sent no reset."""
    (finding,) = rows(scenario(wifi=WIFI, lte=box(LTE, "firewall", joins=False, reset=True)))
    assert finding["kind"] == "join_refused"
    assert "a middlebox reset it: the SYN never reached the server" in finding["message"]
    assert "limits" not in finding["remedy"]


def test_each_outage_is_a_finding_of_its_own() -> None:
    """Two blackouts with 5 s between them are two rows, in their times."""
    events = [*away("wifi", 2, 5), *away("wifi", 10, 13)]
    one = scenario(BULK | {"size": "30 MB"}, timeline=events, wifi=WIFI)
    findings = [row for row in rows(one) if row["kind"] in ("outage", "timeout_chain")]
    assert len(findings) == 2
    first, second = sorted(findings, key=lambda row: row["from_s"])
    assert first["to_s"] <= second["from_s"]
    assert 1.9 < first["from_s"] < 2.2
    assert second["from_s"] == pytest.approx(10, abs=0.3)


def costs(table: dict[str, Any]) -> dict[str, float | None]:
    """Simulate a scenario; give what was found, with the costs."""
    findings: dict[str, float | None] = found(table, 7)["found"]
    return findings


def test_a_forgotten_subflow_is_the_cause_and_the_pauses_cost_nothing() -> None:
    """A NAT forgets Wi-Fi between two answers: it is reported once, instead of a dead path."""
    asked = ask(think="15 s", requests=3, response="1 MB")
    nat = scenario(asked, wifi=box(WIFI, "nat", idle="10 s"), lte=LTE)
    # What Wi-Fi would have carried does not show.
    costs_s = costs(nat)
    assert set(costs_s) == {"forgotten", "application"}
    assert costs_s["forgotten"] is None
    assert sum(row["kind"] == "forgotten" for row in rows(nat)) == 1


def test_a_dead_path_holds_up_nothing_while_there_is_nothing_to_send() -> None:
    """Wi-Fi is away during a pause of 8 s between two answers, and back before it ends."""
    asked = ask(think="8 s", requests=3, response="1 MB")
    gone = scenario(asked, timeline=away("wifi", 0.35, 6))
    costs_s = costs(gone)
    true_s = found(gone, 7)["elapsed_s"] - found(scenario(asked), 7)["elapsed_s"]
    assert (costs_s.get("path_dead") or 0) <= max(1.5 * true_s, 0.5)


def test_a_path_that_says_how_large_packets_may_be_costs_nothing() -> None:
    """The sender hears of the limit and sends smaller segments at once."""
    narrow = box(WIFI, "mtu", bytes="1300 B")
    assert costs(scenario(wifi=narrow, lte=LTE)) == {}


def test_a_transfer_that_never_goes_on_is_told() -> None:
    """Wi-Fi is gone at 2 s, for good, and the capture ends 15 s later."""
    dead = scenario(timeline=[event(2, "wifi", "blackout")], wifi=WIFI) | {"run": {"stop": "17 s"}}
    (finding,) = rows(dead)
    assert finding["kind"] == "timeout_chain"
    assert finding["from_s"] == pytest.approx(2, abs=0.2)
    assert finding["to_s"] > 10
    assert finding["cost_s"] is None


def test_data_that_comes_twice_costs_nothing_where_no_queue_stands() -> None:
    """A constant bit rate over both paths, far below what they carry."""
    calls = scenario(talk("1 Mbit/s"), mptcp={"scheduler": "redundant"})
    assert costs(calls) == {"reinjection_waste": None}


def test_a_path_that_waits_for_a_slow_one_is_not_left_unused() -> None:
    """Behind 1 Mbit/s the other path has nothing to send for more than half of the time."""
    slow = {"rate": "1 Mbit/s", "delay": "60 ms", "queue": "800 ms"}
    costs_s = costs(
        scenario(BULK | {"direction": "upload"}, wifi=WIFI | {"rate": "30 Mbit/s"}, lte=slow)
    )
    assert "head_of_line" in costs_s
    assert "capacity_unused" not in costs_s


def test_slow_start_that_a_time_out_ended_did_not_end_early() -> None:
    """An outage of 300 ms in slow start."""
    gone = scenario(timeline=away("wifi", 0.15, 0.45), wifi=WIFI, mptcp={"enabled": False})
    assert "slow_start_early" not in costs(gone)


def test_a_host_with_one_path_lacks_no_second_one() -> None:
    """Nobody announced an address, and there is no other interface."""
    assert found(scenario(BULK | {"size": "24 MB"}, wifi=WIFI), 1)["found"] == {}


def test_a_proxy_explains_that_mptcp_did_not_begin_at_the_server() -> None:
    """Neither that nor the proxy's window is reported beside it."""
    one = scenario(lte=box(LTE, "proxy"))
    assert set(found(one, 1)["found"]) == {"split_connection"}


def test_a_path_that_shares_its_bottleneck_throughout_did_not_become_slower() -> None:
    """A neighbour's flow takes more now and less then."""
    _, shared = load("shared-bottleneck", ["transfer.duration=60s"])
    findings = _core.simulate(plan(shared, 1, None)).rows("findings")
    assert "path_slowed" not in {row["kind"] for row in findings}


@pytest.mark.parametrize("name", ["data-plan", "maps"])
def test_a_path_that_a_policy_leaves_is_not_dead(name: str) -> None:
    """It worked, and its host closed the subflow over it."""
    _, left = load(name)
    findings = _core.simulate(plan(left, 1, None)).rows("findings")
    assert "path_dead" not in {row["kind"] for row in findings}


def test_a_video_that_does_not_stall_lost_no_time() -> None:
    """The player had enough for as long as a path was dead."""
    video = {"application": "video", "direction": "download", "duration": "40 s"}
    video |= {"lowest_bitrate": "1 Mbit/s", "buffer": "12 s"}
    slow = LTE | {"rate": "2 Mbit/s"}
    findings = rows(scenario(video, timeline=away("wifi", 6, 12), wifi=WIFI, lte=slow))
    (dead,) = [row for row in findings if row["kind"] == "path_dead"]
    assert dead["cost_s"] is None
    assert "the video did not stall" in dead["message"]


def test_captures_whose_ends_are_a_little_apart_are_fit(tmp_path: Path) -> None:
    """Two files that are cut in the middle: one ends a few packets before the other."""
    long = scenario(BULK | {"size": "24 MB"})
    run = mptcplab.run(long, out=tmp_path, baselines=False, captures="headers").mptcp
    captures = [run.directory / f"{host}.pcapng" for host in ("client", "server")]
    for capture, part in zip(captures, (0.48, 0.5), strict=True):
        capture.write_bytes(capture.read_bytes()[: int(part * capture.stat().st_size)])
    halves = mptcplab.analyze(captures)
    assert "capture_partial" in set(halves.diagnostics["diagnostic"])
    assert "capture_unfit" not in set(halves.findings["kind"])
