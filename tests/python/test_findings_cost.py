"""What findings say an outage or a failed join cost, beside runs without it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

import mptcplab as package
from experiments.findings import views
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
    talk,
)
from mptcplab import _core
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

# As far as a cost may be from the true one.
FACTOR = 1.5
Table = dict[str, Any]
SLOW = LTE | {"rate": "4 Mbit/s", "delay": "40 ms"}
FAR = WIFI | {"delay": "60 ms", "queue": "100 ms"}
PAUSED: Table = {
    "wifi": {"rate": "14 Mbit/s", "delay": "15 ms", "queue": "70 ms"},
    "lte": {"rate": "9 Mbit/s", "delay": "32 ms", "queue": "120 ms"},
}


def cases() -> Iterator[tuple[str, Table, Table]]:
    """Paths that die, that are withdrawn, and that come back, each beside the same without."""
    for direction in ("download", "upload"):
        one = BULK | {"direction": direction, "size": "15 MB"}
        for name, lte in (("lte", LTE), ("slow lte", SLOW)):
            both = scenario(one, wifi=WIFI, lte=lte)
            for verb, back in (("blackout", "restore"), ("detach", "attach")):
                events = [event(2, "wifi", verb), event(5, "wifi", back)]
                yield (
                    f"{direction} {verb} beside {name}",
                    scenario(one, timeline=events, wifi=WIFI, lte=lte),
                    both,
                )
        both = scenario(one, wifi=WIFI, lte=LTE)
        gone = [event(2, "wifi", "blackout")]
        yield f"{direction} for good", scenario(one, timeline=gone, wifi=WIFI, lte=LTE), both
        events = sorted([*away("wifi", 2, 4), *away("lte", 2, 4)], key=lambda row: row["at"])
        yield f"{direction} both", scenario(one, timeline=events, wifi=WIFI, lte=LTE), both
        for name, wifi in (("one", WIFI), ("far", FAR)):
            alone = scenario(one, wifi=wifi)
            dead = scenario(one, timeline=away("wifi", 2, 3.5), wifi=wifi)
            yield f"{direction} {name}", dead, alone


CASES = {name: (dead, without) for name, dead, without in cases()}
KINDS = ("path_dead", "outage", "timeout_chain")


def simulated(table: Table) -> _core.Tables:
    """Simulate a scenario."""
    return _core.simulate(plan(load(table)[1], 1, None))


@pytest.mark.parametrize("name", CASES)
def test_what_an_outage_costs_is_what_the_run_without_it_takes_less(name: str) -> None:
    """What waited, what the path would have carried, and until the rate is there again."""
    dead, without = CASES[name]
    result = found(dead, 1)
    claimed_s = sum(result["found"].get(kind) or 0.0 for kind in KINDS)
    true_s = result["elapsed_s"] - found(without, 1)["elapsed_s"]
    assert true_s / FACTOR <= claimed_s <= true_s * FACTOR


def far(rtt_ms: int, size: str, *, alone: bool = False) -> Table:
    """A download over paths with long round trips."""
    wifi = {"rate": "20 Mbit/s", "delay": f"{rtt_ms // 2} ms", "queue": "300 ms"}
    one = BULK | {"size": size}
    if alone:
        return scenario(one, wifi=wifi)
    return scenario(one, wifi=wifi, lte=wifi | {"rate": "10 Mbit/s"})


FAR_CASES = {
    "in slow start": (far(300, "30 MB"), 1, 2),
    "soon after it": (far(400, "10 MB"), 4, 5.5),
    "for long": (far(400, "30 MB"), 4, 8),
    "of the only path, which begins anew": (far(400, "30 MB", alone=True), 4, 5.5),
}


@pytest.mark.parametrize("name", FAR_CASES)
def test_outages_of_far_paths_cost_what_the_run_without_them_takes_less(name: str) -> None:
    """Also where the transfer had not shown its rate, and recovers for many round trips."""
    without, from_s, to_s = FAR_CASES[name]
    result = found(without | {"timeline": away("wifi", from_s, to_s)}, 1)
    claimed_s = sum(cost or 0.0 for cost in result["found"].values())
    true_s = result["elapsed_s"] - found(without, 1)["elapsed_s"]
    assert true_s / FACTOR <= claimed_s <= true_s * FACTOR
    assert set(KINDS) & set(result["found"])


def test_a_path_that_never_was_full_lost_at_least_so_much() -> None:
    """The transfer ends before it has shown what the path carries."""
    table = far(300, "10 MB") | {"timeline": away("wifi", 1, 2)}
    (finding,) = [row for row in simulated(table).rows("findings") if row["kind"] == "path_dead"]
    assert finding["cost_is_minimum"]
    assert ": at least " in finding["message"]
    near = scenario(BULK | {"size": "20 MB"}, timeline=away("wifi", 2, 3))
    assert not any(row["cost_is_minimum"] for row in simulated(near).rows("findings"))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("rate", ["300 kbit/s", "500 kbit/s"])
def test_beside_a_path_that_data_waits_for_anyway_a_cost_is_unknown(rate: str, seed: int) -> None:
    """Without the outage the same seeds take from 24 s longer to 9 s less."""
    wifi = {"rate": "10 Mbit/s", "delay": "12 ms", "queue": "60 ms"}
    slow = {"rate": rate, "delay": "40 ms", "queue": "200 ms"}
    gone = scenario(BULK | {"size": "10 MB"}, timeline=away("wifi", 4, 8), wifi=wifi, lte=slow)
    result = found(gone, seed)
    assert result["found"]["path_dead"] is None
    # Of what those took longer that waited, no more than a minimum shows.
    assert not result["found"].get("head_of_line") or "head_of_line" in result["minima"]


@pytest.mark.parametrize("span", [(0.3, 4), (2, 5), (3, 4)])
@pytest.mark.parametrize("direction", ["upload", "download"])
def test_pauses_of_the_client_are_no_part_of_what_an_outage_costs(
    direction: str, span: tuple[float, float]
) -> None:
    """It pauses after an answer, or before it asks; a path dies meanwhile."""
    sizes = {"request": "700 kB", "response": "200 B"} if direction == "upload" else {}
    asked = ask(**{"direction": direction, "response": "700 kB", "think": "1500 ms"} | sizes)
    without = scenario(asked, **PAUSED)
    result = found(without | {"timeline": away("wifi", *span)}, 1)
    claimed_s = sum(cost or 0.0 for kind, cost in result["found"].items() if kind != "application")
    true_s = result["elapsed_s"] - found(without, 1)["elapsed_s"]
    # What is too short for a line is not reported.
    assert true_s / FACTOR <= claimed_s <= true_s * FACTOR or max(true_s, claimed_s) < 0.5


def test_a_path_that_came_back_in_a_pause_is_not_unused() -> None:
    """For 4 s there is nothing to send over it."""
    asked = ask(response="700 kB", think="4 s", requests=5)
    result = found(scenario(asked, timeline=away("wifi", 2, 5), **PAUSED), 1)
    assert set(result["found"]) == {"path_dead", "application"}


@pytest.mark.parametrize(("percent", "delay"), [("3 %", "30 ms"), ("4 %", "60 ms")])
def test_requests_and_responses_that_wait_for_time_outs_are_told(percent: str, delay: str) -> None:
    """Each is a segment: nothing after it shows that it was lost."""
    brief = ask(response="500 B", think="0 s", requests=80)
    wifi = WIFI | {"delay": delay}
    calm = found(scenario(brief, wifi=wifi), 1)
    lossy = scenario(brief, wifi=wifi | {"loss": percent})
    result = found(lossy, 1)
    true_s = result["elapsed_s"] - calm["elapsed_s"]
    assert true_s / FACTOR <= result["found"]["tail_losses"] <= true_s * FACTOR
    assert "tail_losses" not in calm["found"]
    (row,) = [row for row in simulated(lossy).rows("findings") if row["kind"] == "tail_losses"]
    assert "wifi lost the last segments of requests and responses" in row["message"]


def test_a_message_is_sent_over_both_paths_only_where_there_are_two() -> None:
    """A scheduler has nothing to choose over one."""
    brief = ask(response="500 B", think="0 s", requests=80)
    wifi = WIFI | {"loss": "3 %"}
    one, two = scenario(brief, wifi=wifi), scenario(brief, wifi=wifi, lte=LTE)
    for several, table in ((False, one), (True, two)):
        rows = simulated(table).rows("findings")
        (row,) = [row for row in rows if row["kind"] == "tail_losses"]
        assert ("redundant" in row["remedy"]) is several


@pytest.mark.parametrize("buffer", ["240 kB", "400 kB"])
def test_a_small_window_is_told_although_what_it_lets_go_at_once_queues(buffer: str) -> None:
    """Most round trips are longer than the least, but the queues are empty again and again."""
    wifi = WIFI | {"rate": "32 Mbit/s", "delay": "9 ms", "jitter": "1 ms", "queue": "160 kB"}
    lte = LTE | {"rate": "19 Mbit/s", "delay": "26 ms", "jitter": "2 ms", "queue": "190 kB"}
    bulk = BULK | {"size": "36 MB"}
    small = {"receive_buffer": buffer, "receive_buffer_tuning": False}
    result = found(scenario(bulk, wifi=wifi, lte=lte, tcp=small), 1)
    large = found(scenario(bulk, wifi=wifi, lte=lte), 1)
    assert result["elapsed_s"] > 1.3 * large["elapsed_s"]
    assert set(result["found"]) == {"receive_window"}
    assert "receive_window" not in large["found"]


def _both(from_s: float, to_s: float) -> list[Table]:
    return [*away("wifi", from_s, to_s), *away("lte", from_s, to_s)]


RUN_INTO: dict[str, tuple[Table, str, list[Table]]] = {
    "all paths": (ask(response="500 kB"), "timeout_chain", _both(3.2, 6)),
    "one of two": (
        ask(response="100 kB", think="800 ms", requests=10),
        "path_dead",
        away("wifi", 2.6, 5),
    ),
}


@pytest.mark.parametrize("name", RUN_INTO)
def test_an_outage_that_a_request_runs_into_is_told_once(name: str) -> None:
    """The time-outs before the one that brought it count, too."""
    asked, kind, gone = RUN_INTO[name]
    result = found(scenario(asked, timeline=gone), 1)
    true_s = result["elapsed_s"] - found(scenario(asked), 1)["elapsed_s"]
    assert set(result["found"]) - {"reinjection_waste"} == {kind, "application"}
    assert true_s / FACTOR <= result["found"][kind] <= true_s * FACTOR


def test_an_outage_that_a_request_of_a_video_runs_into_costs_its_stall() -> None:
    """The request for the next part was sent again and again over both paths."""
    video: Table = {"application": "video", "duration": "32 s", "buffer": "8 s"}
    gone = _both(10, 22)
    video |= {"direction": "download", "lowest_bitrate": "1 Mbit/s"}
    result = found(scenario(video, timeline=gone), 1)
    true_s = result["elapsed_s"] - found(scenario(video), 1)["elapsed_s"]
    assert true_s / FACTOR <= result["found"]["timeout_chain"] <= true_s * FACTOR
    assert "tail_losses" not in result["found"]


@pytest.mark.parametrize(("enabled", "until_s"), [(True, 2.5), (False, 2.5), (True, 0.9)])
def test_a_first_syn_that_was_lost_is_told(enabled: bool, until_s: float) -> None:
    """No other path joins before, and that is not reported as well."""
    paths: dict[str, Any] = {"wifi": WIFI, "lte": LTE} if enabled else {"wifi": WIFI}
    size, mptcp = BULK | {"size": "6 MB"}, {"enabled": enabled}
    late = scenario(size, timeline=away("wifi", 0, until_s), mptcp=mptcp, **paths)
    result = found(late, 1)
    true_s = result["elapsed_s"] - found(scenario(size, mptcp=mptcp, **paths), 1)["elapsed_s"]
    assert set(result["found"]) == {"handshake_lost"}
    assert true_s / FACTOR <= result["found"]["handshake_lost"] <= true_s * FACTOR


def test_a_first_syn_that_was_lost_is_told_with_the_answer_that_came() -> None:
    """Its display filter shows the handshake to its end."""
    late = scenario(BULK | {"size": "6 MB"}, timeline=away("wifi", 0, 2.5))
    tables = _core.simulate(plan(load(late)[1], 1, None))
    (row,) = tables.rows("findings")
    first = next(iter(tables.rows("subflows")))
    assert row["kind"] == "handshake_lost"
    assert row["to_s"] == pytest.approx(first["start_s"] + first["join_time_ms"] / 1e3, abs=1e-3)


@pytest.mark.parametrize("back_s", [4.0, 5.5])
def test_a_path_that_joins_again_counts_once(back_s: float) -> None:
    """Its old subflow and its new one never carried something at the same time."""
    paths = {"wifi": WIFI | {"delay": "8 ms"}, "lte": LTE | {"rate": "8 Mbit/s"}}
    gone = [event(1.61, "wifi", "detach"), event(back_s, "wifi", "attach")]
    one = scenario(BULK | {"size": "30 MB"}, timeline=gone, **paths)
    run = found(one, 1)
    true_s = run["elapsed_s"] - found(one | {"timeline": []}, 1)["elapsed_s"]
    assert true_s / FACTOR <= run["found"]["path_dead"] <= true_s * FACTOR


def test_a_call_waits_for_what_was_on_a_path_that_dies() -> None:
    """What comes later over the other path is in time, and waits: the longest gap is the cost."""
    call = talk("64 kbit/s", "30 s", "160 B")
    gone = scenario(call, timeline=away("wifi", 10, 16), wifi=WIFI, lte=LTE)
    tables = _core.simulate(plan(load(gone)[1], 1, None))
    (row,) = (row for row in tables.rows("findings") if row["kind"] == "path_dead")
    (gap_ms,) = (
        one["longest_gap_ms"] for one in tables.rows("transfers") if one["direction"] == "down"
    )
    assert row["cost_s"] == pytest.approx(gap_ms / 1e3, abs=0.1)


def test_what_a_policy_closes_is_no_slower_path() -> None:
    """A budget closes LTE just before Wi-Fi becomes slower: only that is the path's doing."""
    slower = [event(3.2, "wifi", "profile") | {"link": "slow"}]
    paths = {"wifi": WIFI | {"rate": "30 Mbit/s"}, "lte": LTE | {"cost_per_mb": 0.2}}
    policy = {"path_manager": "budget", "path_manager_parameters": {"cost_budget": 1}}
    one = scenario(BULK | {"size": "30 MB"}, timeline=slower, mptcp=policy, **paths)
    run = found(one | {"link": {"slow": link("21 Mbit/s", "12 ms", "60 ms")}}, 1)
    true_s = run["elapsed_s"] - found(one | {"timeline": []}, 1)["elapsed_s"]
    assert true_s / FACTOR <= run["found"]["path_slowed"] <= true_s * FACTOR


def test_of_a_path_that_joined_late_the_mean_rate_is_told() -> None:
    """It was dead for half of the time after it."""
    timeline = [event(3, "lte", "attach"), *away("lte", 6, 10)]
    late = scenario(
        BULK | {"size": "30 MB"}, timeline=timeline, wifi=WIFI, lte=LTE | {"attached": False}
    )
    tables = _core.simulate(plan(load(late)[1], 1, None))
    (row,) = (row for row in tables.rows("findings") if row["kind"] == "join_late")
    (flow,) = (
        row for row in tables.rows("flows") if (row["subflow"], row["direction"]) == (1, "down")
    )
    (elapsed_s,) = (
        row["elapsed_s"] for row in tables.rows("transfers") if row["direction"] == "down"
    )
    (rate,) = re.findall(r"carried ([\d.]+) Mbit/s", row["message"])
    carried = flow["delivered_bytes"] * 8e-6 / (elapsed_s - row["to_s"])
    assert float(rate) == pytest.approx(carried, rel=0.02)


def test_a_transfer_whose_first_syn_was_lost_is_not_short() -> None:
    """Its second path would have joined in time."""
    late = scenario(BULK | {"size": "1 MB"}, timeline=away("wifi", 0, 0.9))
    assert set(found(late, 1)["found"]) == {"handshake_lost"}


def test_a_first_syn_that_was_lost_is_found_at_the_receiver() -> None:
    """Who sends no data measures no round trip; another path's handshake tells."""
    late = scenario(BULK | {"size": "6 MB"}, timeline=away("wifi", 0, 2.5))
    assert set(found(late, 1, view=views.client)["found"]) == {"handshake_lost"}


def test_a_path_whose_join_was_lost_was_not_idle_before() -> None:
    """It joined late, and the scheduler could not use it before."""
    wifi = {"rate": "24 Mbit/s", "delay": "10 ms", "queue": "80 ms"}
    lte = {"rate": "16 Mbit/s", "delay": "28 ms", "queue": "110 ms"}
    gone = away("lte", 0, 2.5)
    result = found(scenario(BULK | {"size": "20 MB"}, timeline=gone, wifi=wifi, lte=lte), 1)
    assert set(result["found"]) == {"join_late"}


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_what_an_outage_cost_beside_a_path_that_is_given_up_is_unknown(seed: int) -> None:
    """A coupled control leaves a lossy path once the other is back: some such outages save time."""
    coupled = {"congestion_control": "olia"}
    wifi = {"rate": "24 Mbit/s", "delay": "10 ms", "queue": "80 ms"}
    lossy = {"rate": "16 Mbit/s", "delay": "28 ms", "queue": "110 ms", "loss": "0.5 %"}
    both: Table = {"wifi": wifi, "lte": lossy}
    gone = away("wifi", 2, 4)
    result = found(scenario(BULK | {"size": "20 MB"}, mptcp=coupled, timeline=gone, **both), seed)
    assert result["found"]["path_dead"] is None
    assert not any(result["found"].values())


def test_while_all_paths_were_withdrawn_none_waited_for_another() -> None:
    """LTE is refused when it comes back, as its old subflow still counts."""
    both: Table = {
        "wifi": {"rate": "24 Mbit/s", "delay": "10 ms", "queue": "80 ms"},
        "lte": {"rate": "16 Mbit/s", "delay": "28 ms", "queue": "110 ms"},
    }
    gone = [event(2, "wifi", "detach"), event(2.2, "lte", "detach")]
    gone += [event(5, path, "attach") for path in both]
    size = BULK | {"size": "30 MB"}
    dead = scenario(size, timeline=gone, **both)
    result = found(dead, 1)
    true_s = result["elapsed_s"] - found(scenario(size, **both), 1)["elapsed_s"]
    assert true_s / FACTOR <= sum(result["found"].values()) <= true_s * FACTOR
    first, second = simulated(dead).rows("findings")
    assert re.match(r"no path delivered anything from 2\.\d s to 5\.1 s", first["message"])
    assert "and a new join was refused" in second["message"]


def test_random_losses_in_short_exchanges_are_told() -> None:
    """The round trip grows with each window that leaves at once: no queue overflows."""
    brief = ask(response="60 kB", think="50 ms", requests=40)
    result = found(scenario(brief, wifi=WIFI | {"loss": "2 %"}, lte=LTE), 1)
    assert "losses_random" in result["found"]
    assert "capacity_unused" not in result["found"]


@pytest.mark.parametrize("response", ["6 kB", "24 kB"])
def test_a_path_is_not_idle_that_would_bring_a_response_no_sooner(response: str) -> None:
    """The other one has brought it within its round trip."""
    assert found(scenario(ask(response=response, think="0 s", requests=60)), 1)["found"] == {}


def test_a_path_that_the_limit_keeps_out_is_told_with_its_cost() -> None:
    """The two slow paths are joined, and the fast one comes too late."""
    slow = {"rate": "8 Mbit/s", "delay": "10 ms", "queue": "80 ms"}
    fast = {"rate": "20 Mbit/s", "delay": "15 ms", "queue": "80 ms"}
    size = BULK | {"size": "20 MB"}
    three: Table = {"wifi": slow, "lte": slow | {"delay": "20 ms"}, "dsl": fast}
    run = package.run(scenario(size, mptcp={"max_subflows": 1}, **three), captures="none")
    finding, *others = package.why(run).rows
    assert finding["kind"] == "path_left_out"
    assert run.mptcp.transfer is not None
    true_s = run.mptcp.transfer["elapsed_s"] - found(scenario(size, **three), 1)["elapsed_s"]
    assert true_s / FACTOR <= finding["cost_s"] <= true_s * FACTOR
    assert sum(row["cost_s"] or 0 for row in others) + finding["cost_s"] <= true_s * FACTOR


def test_paths_that_the_limit_keeps_out_cost_together_what_all_of_them_would_have_brought() -> None:
    """What the second one saves is less, since the first one would have been there."""
    three: Table = {"wifi": WIFI, "lte": LTE, "dsl": WIFI}
    size = BULK | {"size": "5 MB"}
    run = package.run(scenario(size, mptcp={"max_subflows": 0}, **three), captures="none")
    findings = [row for row in package.why(run).rows if row["kind"] == "path_left_out"]
    assert [row["message"].partition(" ")[0] for row in findings] == ["dsl", "lte"]
    assert "since no more than 1 subflow is allowed" in findings[0]["message"]
    assert run.mptcp.transfer is not None
    true_s = run.mptcp.transfer["elapsed_s"] - found(scenario(size, **three), 1)["elapsed_s"]
    assert true_s / FACTOR <= sum(row["cost_s"] for row in findings) <= true_s * FACTOR


def test_a_path_that_comes_soon_and_that_the_limit_keeps_out_is_told() -> None:
    """What it would have carried before it was there is no part of its cost."""
    slow = {"rate": "8 Mbit/s", "delay": "10 ms", "queue": "80 ms"}
    fast = {"rate": "20 Mbit/s", "delay": "15 ms", "queue": "80 ms", "attached": False}
    came = [event(3, "dsl", "attach")]
    size = BULK | {"size": "20 MB"}
    three: Table = {"wifi": slow, "lte": slow | {"delay": "20 ms"}, "dsl": fast}
    limited = scenario(size, mptcp={"max_subflows": 1}, timeline=came, **three)
    run = package.run(limited, captures="none")
    finding = next(row for row in package.why(run).rows if row["kind"] == "path_left_out")
    assert run.mptcp.transfer is not None
    without = found(scenario(size, timeline=came, **three), 1)
    true_s = run.mptcp.transfer["elapsed_s"] - without["elapsed_s"]
    assert true_s / FACTOR <= finding["cost_s"] <= true_s * FACTOR


@pytest.mark.parametrize("joins", ["firewall", "strip-options"])
def test_a_failed_join_costs_what_plain_tcp_carries_over_its_path(joins: str) -> None:
    """Only the runs beside it tell."""
    settings: Table = {"joins": False} if joins == "firewall" else {"segments": "syn"}
    failed = scenario(wifi=WIFI, lte=box(LTE, joins, **settings))
    run = package.run(failed, captures="none")
    (finding,) = [row for row in package.why(run).rows if row["kind"].startswith("join_")]
    assert run.mptcp.transfer is not None
    true_s = run.mptcp.transfer["elapsed_s"] - found(scenario(), 1)["elapsed_s"]
    assert true_s / FACTOR <= finding["cost_s"] <= true_s * FACTOR
    assert finding["cost_mbps"] > 0
    assert "plain TCP over lte alone carries" in finding["evidence"]


@pytest.mark.parametrize(("enabled", "flows"), [(False, 1), (True, 2)])
def test_what_a_few_other_flows_take_of_a_path_is_told(enabled: bool, flows: int) -> None:
    """It carries four fifths of what it had; how often it did before does not matter."""
    paths: Table = {"wifi": {"rate": "24 Mbit/s", "delay": "10 ms", "queue": "80 ms"}}
    if enabled:
        paths["lte"] = {"rate": "16 Mbit/s", "delay": "28 ms", "queue": "110 ms"}
    size = BULK | {"size": "30 MB" if enabled else "25 MB"}
    calm = scenario(size, mptcp={"enabled": enabled}, **paths)
    taken = {"kind": "tcp", "link": "wifi", "start": "3 s", "flows": flows}
    result = found(calm | {"cross_traffic": [taken]}, 1)
    true_s = result["elapsed_s"] - found(calm, 1)["elapsed_s"]
    assert true_s / FACTOR <= result["found"]["path_slowed"] <= true_s * FACTOR


def test_a_capture_of_the_receiver_calls_no_path_dead_that_had_nothing_to_bring() -> None:
    """Data waits for the far path to the end, and the near one is done."""
    wifi = {"rate": "24 Mbit/s", "delay": "10 ms", "queue": "80 ms"}
    far = {"rate": "8 Mbit/s", "delay": "280 ms", "queue": "300 ms"}
    both = scenario(BULK | {"size": "20 MB"}, wifi=wifi, lte=far)
    assert set(found(both, 1, view=views.client)["found"]) <= {"head_of_line"}


def test_a_capture_of_who_asks_counts_time_outs_until_the_answer() -> None:
    """The request goes over the other path meanwhile, and comes."""
    both: Table = {
        "wifi": {"rate": "24 Mbit/s", "delay": "10 ms", "queue": "80 ms"},
        "lte": {"rate": "16 Mbit/s", "delay": "28 ms", "queue": "110 ms"},
    }
    asked = ask(response="500 kB", requests=8)
    dead = scenario(asked, timeline=away("wifi", 3.2, 6), **both)
    result = found(dead, 1, view=views.client)
    true_s = result["elapsed_s"] - found(scenario(asked, **both), 1)["elapsed_s"]
    claimed_s = sum(cost or 0 for kind, cost in result["found"].items() if kind != "application")
    assert claimed_s <= true_s * FACTOR


@pytest.mark.parametrize("rate", ["4 Mbit/s", "12 Mbit/s"])
@pytest.mark.parametrize("verbs", [("blackout", "restore"), ("detach", "attach")])
def test_a_capture_of_the_receiver_claims_no_more_than_was_lost(
    verbs: tuple[str, str], rate: str
) -> None:
    """It sees less than both ends do, and calls what it claims a minimum."""
    both: Table = {"wifi": WIFI, "lte": LTE | {"rate": rate, "delay": "40 ms"}}
    size = BULK | {"size": "15 MB"}
    gone = [event(at_s, "wifi", verb) for at_s, verb in zip((2, 5), verbs, strict=True)]
    result = found(scenario(size, timeline=gone, **both), 1, view=views.client)
    assert "path_dead" in result["minima"]
    true_s = result["elapsed_s"] - found(scenario(size, **both), 1)["elapsed_s"]
    assert 0.5 * true_s <= result["found"]["path_dead"] <= true_s
