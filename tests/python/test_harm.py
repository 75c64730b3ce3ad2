"""Remedies that would make a transfer longer are not recommended, or their words say so."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import mptcplab as package
from experiments.findings import harm, table
from experiments.findings.run import gains, recommended
from experiments.findings.scenarios import BULK, LTE, WIFI, ask, away, scenario, talk
from mptcplab.results.findings import remedies
from mptcplab.results.findings.tries import tried

Table = dict[str, Any]

# What of all that is recommended may make a transfer longer without a word.
UNSAID = 0.05


def names(scenario: Table, kind: str) -> list[list[str]]:
    """Give the remedies of each finding of a kind that can be tried."""
    rows = [row for row, _ in recommended(scenario, 1)["findings"]]
    return [[one.name for one in remedies.triable(row)] for row in rows if row["kind"] == kind]


def test_what_is_recommended_over_unlike_paths_seldom_harms() -> None:
    """Beside a path that is six times slower and more the words of the remedy warn of it."""
    rows = table.harm()
    assert len(rows) == harm.EACH * len(harm.FAMILIES)
    warned = harm.one_path_beside_a_far_slower_one.__name__
    harmed = [
        not table.is_harmless(one, row["elapsed_s"])
        for row in rows
        for kind, one, _ in table.promises(row)
        if (row["name"], kind) != (warned, "no_second_path")
    ]
    assert len(harmed) >= 100
    assert sum(harmed) <= UNSAID * len(harmed)


@pytest.mark.parametrize("number", [0, 100, 330])
def test_a_row_that_is_kept_comes_out_again(number: int) -> None:
    kept = table.harm()[number]
    assert harm.measured(number) == kept


@pytest.mark.parametrize(
    ("transfer", "is_meant"), [(talk("64 kbit/s", "20 s", "160 B"), True), (BULK, False)]
)
def test_a_call_may_well_come_twice(tmp_path: Path, transfer: Table, *, is_meant: bool) -> None:
    """It was sent over all paths to be in time, also over one that dies."""
    deadline = {"deadline": "150 ms"} if is_meant else {}
    gone = away("wifi", 1, 3) if is_meant else []
    one = scenario(transfer | deadline, timeline=gone, mptcp={"scheduler": "redundant"})
    package.run(one, out=tmp_path / "run", captures="none", baselines=False)
    kinds = {row["kind"] for row in package.why(tmp_path / "run").rows}
    assert ("reinjection_waste" not in kinds) is is_meant


def test_a_path_that_held_packets_up_is_not_left_for_that() -> None:
    """It lost nothing: who leaves it sends all again."""
    held = scenario(timeline=away("wifi", 2, 3.2, "hold"), wifi=WIFI, lte=LTE)
    dead = scenario(timeline=away("wifi", 2, 3.2), wifi=WIFI, lte=LTE)
    assert names(held, "path_dead") == [[]]
    assert names(dead, "path_dead") == [["the path manager guard"]]


def test_what_is_lost_soon_after_a_path_held_packets_up_is_an_outage_of_its_own() -> None:
    """Of the first the hosts can do nothing, of the second they can."""
    timeline = [*away("wifi", 2, 3.2, "hold"), *away("wifi", 3.3, 6)]
    one = scenario(BULK | {"size": "20 MB"}, timeline=timeline)
    run = recommended(one, 1)
    dead = {round(row["from_s"]): row for row, _ in run["findings"] if row["kind"] == "path_dead"}
    assert {at: bool(row["beyond_hosts"]) for at, row in dead.items()} == {2: True, 3: False}
    first_s, second_s = (
        run["elapsed_s"] - recommended(without, 1)["elapsed_s"]
        for without in (one | {"timeline": timeline[2:]}, one | {"timeline": timeline[:2]})
    )
    assert dead[2]["cost_s"] < 1.5 * first_s
    assert second_s / 1.5 < dead[3]["cost_s"] < 1.5 * second_s
    (tried,) = gains(one, run)["path_dead"]
    assert tried["gained_s"] > 0


def test_a_download_after_a_handshake_is_no_message() -> None:
    """TLS takes turns as well: two answers, and the second has nearly all bytes."""
    asked = ask(response="8 MB", think="20 ms", requests=2)
    one = scenario(asked, timeline=away("wifi", 2, 5), wifi=WIFI, lte=LTE)
    run = recommended(one, 1)
    (row,) = [row for row, _ in run["findings"] if row["kind"] == "path_dead"]
    assert "of messages" not in row["remedy"]
    (tried,) = gains(one, run)["path_dead"]
    assert tried["gained_s"] > 0


def test_of_messages_a_guard_shortens_the_longest_wait() -> None:
    """The whole may take longer, and the finding says so."""
    slower = LTE | {"delay": "45 ms"}
    asked = ask(response="12 kB", think="20 ms", requests=90)
    one = scenario(asked, timeline=away("wifi", 1, 2.1), wifi=WIFI, lte=slower)
    run = recommended(one, 1)
    (row,) = [row for row, _ in run["findings"] if row["kind"] == "path_dead"]
    assert "may make the whole longer" in row["remedy"]
    (tried,) = gains(one, run)["path_dead"]
    before_ms, after_ms = tried["wait_ms"]
    assert after_ms < before_ms
    assert tried["gained_s"] < 0


def test_a_try_that_serves_a_call_worse_is_called_so(tmp_path: Path) -> None:
    """Its time says nothing: it lasts as long as people talk."""
    call = talk("64 kbit/s", "30 s", "160 B") | {"deadline": "150 ms", "codec": "g711"}
    worse: list[bool] = []
    for seed in (1, 2, 3):
        where = tmp_path / str(seed)
        lossy = scenario(call, wifi=WIFI | {"loss": "8 %"}, lte=LTE)
        package.run(lossy, out=where, captures="none", seed=seed)
        for row in package.why(where, tries=True).tried_rows or []:
            worse.append(row["mos_before"] - row["mos"] >= 0.1)
            assert (row["limit"] or "").startswith("makes it worse: ") is worse[-1]
    assert {True, False} == set(worse)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ({"stall_s": 1.0}, {"stall_s": 1.5}, "stalled for 1.50 s"),
        ({"stall_s": 1.5}, {"stall_s": 1.0}, None),
        ({"late_share": 0.05}, {"late_share": 0.10}, "10.0 % late"),
        ({"late_share": 0.05}, {"late_share": 0.055}, "which may be chance"),
        ({"late_share": 0.05}, {"late_share": 0.0505}, None),
        ({"late_share": 0.1}, {"late_share": 0.05}, None),
        ({"late_share": 0.05, "mos": 3.7}, {"late_share": 0.1, "mos": 3.2}, "MOS 3.20 with it"),
        ({}, {}, None),
    ],
)
def test_how_it_is_served_is_judged_before_its_time(
    old: Table, new: Table, said: str | None
) -> None:
    """With a seed, or with means of several."""
    video = {"video_segments": 9, "video_mbps_mean": 2.0} if "stall_s" in old else {}
    alike = {"bytes": 10**6, "throughput_mbps": 2.0, "rtt_ms_mean": 20.0, "messages": 1500} | video
    (words, _), *_ = remedies.declared().items()
    finding = {"kind": "served_worse", "remedy": words, "cost_s": None}
    for seeds in (1, 5):
        trials: Any = SimpleNamespace(
            has=lambda _: False, new=list, transfers=lambda _, n=seeds: [alike | new] * n
        )
        (row,) = tried(trials, [finding], before=[alike | old] * seeds)
        limit = row["limit"] or ""
        assert limit.startswith("makes it worse: ") is (said is not None)
        # Of more messages less is chance.
        if said != "which may be chance" or seeds == 1:
            assert (said or "") in limit


@pytest.mark.parametrize(
    ("request_size", "response", "is_twice"),
    [("300 B", "2 kB", True), ("300 B", "200 kB", False), ("100 kB", "1 kB", False)],
)
def test_large_messages_are_not_sent_over_all_paths(
    request_size: str, response: str, *, is_twice: bool
) -> None:
    """Each path would carry all of them."""
    lossy = WIFI | {"loss": "5 %"}
    asked = ask(request=request_size, response=response, think="20 ms", requests=60)
    kinds = names(scenario(asked, wifi=lossy, lte=LTE | {"loss": "5 %"}), "tail_losses")
    assert kinds
    assert all(("the scheduler redundant" in one) is is_twice for one in kinds)


@pytest.mark.parametrize(
    ("transfer", "saves"),
    [
        (ask(response="2 kB", requests=80), False),
        (ask(response="80 kB", think="20 ms", requests=37), True),
        (ask(response="900 kB", think="20 ms", requests=12), True),
        (BULK, True),
    ],
)
def test_short_messages_may_well_come_twice(transfer: Table, *, saves: bool) -> None:
    """What one path loses, the other has brought: to send it once makes them wait for it."""
    lossy: Table = {"wifi": WIFI | {"loss": "5 %"}, "lte": LTE | {"loss": "5 %"}}
    one = scenario(transfer, mptcp={"scheduler": "redundant"}, **lossy)
    (tried,) = names(one, "reinjection_waste")
    assert ("the scheduler lowest-rtt" in tried) is saves
    # Nor does a sender help that no longer slows down for what the other path brings.
    assert not any(
        "bbr" in name
        for kind in ("losses_random", "losses_bursts")
        for own in names(one, kind)
        for name in own
    )


@pytest.mark.parametrize(("mbps", "is_missed"), [(2, False), (8, True)])
def test_a_path_that_is_far_slower_is_not_missed(
    tmp_path: Path, mbps: float, *, is_missed: bool
) -> None:
    """A tenth of the rate of the first makes the transfer longer, four tenths shorter."""
    sections: Table = {
        "wifi": WIFI,
        "lte": LTE | {"rate": f"{mbps} Mbit/s"},
        "mptcp": {"path_manager": "single"},
    }
    one = scenario(BULK | {"size": "25 MB"}, **sections)
    package.run(one, out=tmp_path / "run", captures="none")
    kinds = {row["kind"] for row in package.why(tmp_path / "run").rows}
    assert ("no_second_path" in kinds) is is_missed
    run = recommended(one, 1)
    (tried,) = gains(one, run)["no_second_path"]
    assert (tried["gained_s"] > 0) is is_missed


@pytest.mark.parametrize(("mbps", "is_spared"), [(4, False), (2.857, True)])
def test_a_path_is_no_backup_where_the_other_takes_longer_for_all(
    mbps: float, *, is_spared: bool
) -> None:
    """Data waits for what it carries, but without it nothing would be there sooner."""
    slow = {"rate": f"{mbps} Mbit/s", "delay": "45 ms", "queue": "1 s"}
    robin = {"scheduler": "round-robin"}
    one = scenario(BULK | {"size": "20 MB"}, wifi=WIFI, lte=slow, mptcp=robin)
    (tried,) = names(one, "head_of_line")
    assert ("that path as a backup" in tried) is is_spared
