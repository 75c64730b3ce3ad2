"""Schedules: two weeks of a clock that a test moves, and whatever may befall them."""

from __future__ import annotations

import random
import re
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

import polars as pl
import pytest

import world as worlds
from command import called
from mptcplab import Error
from mptcplab.campaign import definition
from mptcplab.cli.schedule import _line
from mptcplab.engines.engine import Carried
from mptcplab.results.campaign import Campaign
from mptcplab.results.ledger import REASONS, Attempt
from mptcplab.schedule import schedule
from mptcplab.schedule.forecast import forecast
from mptcplab.schedule.schedule import VisitOutcome
from mptcplab.schedule.visiting import used
from world import CAMPAIGN, THREE_DAYS, ZONE, Here, World, known, scheduled, written

# For whoever is killed neither is enough.
PER_DAY, PER_MONTH = 15_000_000, 100_000_000
SCARCE = CAMPAIGN.replace("40 MB", "15 MB").replace("400 MB", "100 MB")
KILLS = 30
# As long as a loaded machine may take from one kill to the next.
LIFE_SECONDS = 600


def lived(world: World, file: Path, out: Path, chance: random.Random) -> int:
    """Run the schedule, killed at any moment, until it is over; gives how often that was."""
    killed = 0
    while True:
        # Somewhere in the next few visits.
        steps = chance.randrange(1, 700) if killed < KILLS else 0
        arguments = [str(word) for word in (world.directory, file, out, steps)]
        done = called(worlds.killed, arguments, timeout=LIFE_SECONDS)
        if done.returncode == 0:
            return killed
        assert done.returncode == -9, done.stderr
        killed += 1
        # Mostly it is started again at once, sometimes when the machine is.
        off = chance.choice([1, 20, 300, 3600, 20_000])
        world.sleep(off)
        if chance.random() < 0.3:
            world.restart()


@pytest.fixture(scope="module")
def lives(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Campaign]:
    directory = tmp_path_factory.mktemp("lives")
    world = World(directory / "world")
    chance = random.Random(7)
    killed = lived(world, written(directory, SCARCE), directory / "out", chance)
    assert killed >= KILLS
    return world, Campaign(directory / "out")


def day_of(moment: datetime) -> str:
    return moment.astimezone(ZoneInfo(ZONE)).strftime("%Y-%m-%d")


def carried(world: World, path: str) -> Counter[int]:
    """Count what really passed a path, by the visit that had it pass."""
    found: Counter[int] = Counter()
    for one in world.truth():
        if one["what"] == "carried" and one["path"] == path:
            found[one["seed"]] += one["count"]
    return found


def test_nothing_is_lost_or_doubled(lives: tuple[World, Campaign]) -> None:
    world, campaign = lives
    visits, runs = campaign.visits, campaign.runs
    assert visits["visit"].to_list() == list(range(1, visits.height + 1))
    assert set(visits["state"]) == {"done", "missed"}
    assert runs["run"].is_unique().all()
    # All that a visit which is done was to run is there, once.
    there = runs.group_by("visit").len()
    done = visits.filter(state="done").join(there, on="visit", how="left")
    assert done["len"].to_list() == [3] * done.height
    # What is there did happen.
    ended = {(one["seed"], one["path"]) for one in world.truth() if one["what"] == "ended"}
    assert set(runs.select("seed", "path").iter_rows()) <= ended
    # Of what was interrupted, what is there; of other visits that were missed, nothing.
    missed = visits.filter(state="missed").join(there, on="visit", how="left")
    for row in missed.iter_rows(named=True):
        assert row["reason"] in REASONS
        assert (row["len"] or 0) < (3 if row["attempts"] else 1)
    assert {"off", "away", "budget"} <= set(missed["reason"])


def test_a_budget_is_kept_to_the_byte(lives: tuple[World, Campaign]) -> None:
    world, campaign = lives
    truth, begun = carried(world, "lte"), dict(campaign.visits.select("visit", "begun").iter_rows())
    data = campaign.data.filter(path="lte")
    # What is told, at least what was carried, is within both.
    for length, most in ((len("2026-03-20"), PER_DAY), (len("2026-03"), PER_MONTH)):
        spans: Counter[str] = Counter()
        for visit, count in data.select("visit", "bytes").iter_rows():
            spans[day_of(begun[visit])[:length]] += count
        assert max(spans.values()) <= most
    # And there were visits that would have been above either.
    short = " ".join(campaign.visits.filter(reason="budget")["why"])
    assert "of the 15.0 MB of its day" in short
    assert "of the 100 MB of its month" in short
    # No visit took more than was reserved for it before.
    assert (data["bytes"] <= data["reserved_bytes"]).all()
    counted: Counter[int] = Counter()
    for visit, count in data.select("visit", "bytes").iter_rows():
        counted[visit] += count
    for visit, attempts in data.group_by("visit").len().iter_rows():
        if attempts == 1 and visit in campaign.visits.filter(state="done")["visit"]:
            assert counted[visit] == truth[visit]
        assert counted[visit] >= truth[visit]
    # What nobody could count any more is taken for all that was reserved.
    assert any(counted[visit] > truth[visit] for visit in counted)


def test_a_day_has_the_visits_of_the_calendar_at_times_by_chance(
    lives: tuple[World, Campaign],
) -> None:
    _, campaign = lives
    times = [due.astimezone(ZoneInfo(ZONE)) for due in campaign.visits["due"]]
    days = Counter(time.date() for time in times)
    assert list(days.values())[1:-1] == [6] * 13
    assert all(6 <= time.hour < 23 for time in times)
    # In each part of the day one, and not at the same time each day.
    assert len({(time.hour, time.minute) for time in times}) > 60
    # 2026-03-29 has 23 hours there.
    assert any(time.utcoffset() == timedelta(hours=1) for time in times)
    assert any(time.utcoffset() == timedelta(hours=2) for time in times)


def test_the_same_schedule_lives_through_no_kill(tmp_path: Path) -> None:
    world, warned = World(tmp_path / "world"), list[str]()
    file = written(tmp_path, THREE_DAYS)
    campaign = scheduled(world, file, tmp_path / "out", warn=warned.append)
    # Whoever looks on learns what is waited for, before the visit is missed.
    away = campaign.visits.filter(reason="away").select("visit", "why").rows()
    assert away
    assert [one.split(" waits, until ")[0] for one in warned] == [f"visit {one}" for one, _ in away]
    assert all(
        message.endswith(f" at most: {why}") for message, (_, why) in zip(warned, away, strict=True)
    )
    visits = campaign.visits.filter(state="done")
    truth, data = carried(world, "lte"), campaign.data.filter(path="lte")
    assert dict(data.select("visit", "bytes").iter_rows()) == truth
    assert visits["attempts"].to_list() == [1] * visits.height
    # What is left of a budget is what no visit took.
    with known(world):
        found = forecast(definition.load(file), tmp_path / "out", world.now())
    (left,) = (one.budgets_left["month"] for one in found.paths if one.path == "lte")
    assert left == 400_000_000 - data["bytes"].sum()
    # It is over: the same again runs nothing.
    before = world.truth()
    again = scheduled(world, tmp_path / "weeks.toml", tmp_path / "out")
    assert world.truth() == before
    assert again.runs.equals(campaign.runs)


def test_a_visit_without_enough_left_is_missed_and_says_so(tmp_path: Path) -> None:
    world = World(tmp_path / "world")
    text = THREE_DAYS.replace('per_day = "40 MB"', 'per_day = "10 MB"')
    campaign = scheduled(world, written(tmp_path, text), tmp_path / "out")
    missed = campaign.visits.filter(state="missed", reason="budget")
    assert missed.height
    reason = missed["why"][0]
    assert reason.startswith("lte has ")
    assert reason.endswith("of the 10.0 MB of its day, and a visit may take 7.75 MB")
    truth = carried(world, "lte")
    days: Counter[str] = Counter()
    begun = dict(campaign.visits.select("visit", "begun").iter_rows())
    for visit, count in truth.items():
        days[day_of(begun[visit])] += count
    assert days
    assert max(days.values()) <= 10_000_000


def test_a_run_that_takes_more_than_its_part_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worlds, "OVERHEAD", 20.0)
    world, file, messages = World(tmp_path / "world"), written(tmp_path, THREE_DAYS), list[str]()

    def tell(one: VisitOutcome) -> None:
        messages.append(_line(one, definition.load(file)))

    campaign = scheduled(world, file, tmp_path / "out", report=tell)
    why = "lte carried all 2.25 MB that its budget allows"
    assert set(campaign.failures["reason"]) == {why}
    # And whoever looks at what it prints learns of it.
    assert re.search(f"done, .*; [12] of 3 runs failed: {why}; next ", messages[0])
    data = campaign.data.filter(path="lte")
    assert (data["bytes"] <= data["reserved_bytes"]).all()
    # A run that failed is not tried again.
    assert campaign.visits.filter(state="done")["attempts"].max() == 1


def test_a_schedule_goes_on_longer_and_nothing_else_of_it_changes(tmp_path: Path) -> None:
    world = World(tmp_path / "world")
    file, out = written(tmp_path, THREE_DAYS), tmp_path / "out"
    first = scheduled(world, file, out).visits
    file.write_text(THREE_DAYS.replace("for_days = 3", "for_days = 4"))
    longer = scheduled(world, file, out).visits
    assert longer.height > first.height
    assert longer.head(first.height).equals(first)
    for change, what in (
        (("visits = 6", "visits = 7"), "its calendar"),
        (("Europe/Berlin", "Europe/Lisbon"), "its time zone"),
        (('engine = "networks"', 'engine = "networks"\nseed = 2'), "what it runs"),
    ):
        file.write_text(THREE_DAYS.replace("for_days = 3", "for_days = 4").replace(*change))
        with pytest.raises(Error, match=f"{what} has changed since the schedule was begun"):
            scheduled(world, file, out)


def test_one_of_several_calendars_goes_on_longer_and_visits_keep_their_numbers(
    tmp_path: Path,
) -> None:
    """What is added lies between the visits that there were, and comes after them by number."""
    night = '\n[[calendar]]\nhours = "22:00-02:00"\nvisits = 2\nfor_days = {}\n'
    world = World(tmp_path / "world")
    file, out = written(tmp_path, THREE_DAYS + night.format(1)), tmp_path / "out"
    campaign = scheduled(world, file, out)
    for nights, days in ((2, 3), (3, 4)):
        visits, runs = campaign.visits, set(campaign.runs["run"])
        file.write_text(
            THREE_DAYS.replace("for_days = 3", f"for_days = {days}") + night.format(nights)
        )
        campaign = scheduled(world, file, out)
        longer = campaign.visits
        assert longer.height > visits.height
        assert longer.filter(pl.col("visit").is_in(visits["visit"].implode())).equals(visits)
        assert sorted(longer["visit"]) == list(range(1, longer.height + 1))
        assert longer["due"].is_sorted()
        assert runs <= set(campaign.runs["run"])
    file.write_text(THREE_DAYS + night.format(3))
    with pytest.raises(Error, match="its calendar has changed since the schedule was begun"):
        scheduled(world, file, out)


def test_a_line_that_was_cut_off_is_as_if_it_had_not_been_written(tmp_path: Path) -> None:
    world = World(tmp_path / "world")
    file, out = written(tmp_path, THREE_DAYS), tmp_path / "out"
    scheduled(world, file, out)
    ledger = out / "ledger.jsonl"
    lines = ledger.read_bytes().splitlines(keepends=True)
    # Killed while it took down the end of the last visit.
    ledger.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])
    campaign = scheduled(world, file, out)
    assert campaign.visits["state"][-1] == "done"
    ledger.write_bytes(b"".join(lines[:3]) + b"[]\n")
    with pytest.raises(Error, match=r"ledger.jsonl:4: is not a line of a ledger"):
        scheduled(world, file, out)


def test_an_interruption_after_the_last_run_of_a_visit_leaves_it_done(tmp_path: Path) -> None:
    class Interrupted(Here):
        def close(self) -> None:
            raise KeyboardInterrupt

    world = World(tmp_path / "world")
    file, out = (
        written(tmp_path, THREE_DAYS.replace("for_days = 3", "for_days = 1")),
        tmp_path / "out",
    )
    with known(world), pytest.raises(KeyboardInterrupt):
        schedule.run(definition.load(file), out, clock=world, executor=Interrupted)
    campaign = scheduled(world, file, out)
    assert set(campaign.visits["state"]) == {"done"}
    assert campaign.visits["attempts"].max() == 1


@pytest.mark.parametrize("later", [False, True])
def test_an_interface_that_counts_less_than_before_gives_no_budget_back(later: bool) -> None:
    class Reset:
        def carried(self, _: Any) -> dict[str, Carried]:
            return {"lte": Carried(5, "boot")}

    attempt = Attempt(0, {"lte": 1000}, {"lte": {"bytes": 900, "since": "boot"}})
    assert used(attempt, cast("Any", Reset()), cast("Any", None), later=later) == {"lte": 1000}
