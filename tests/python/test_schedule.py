"""Schedules: two weeks of a clock that a test moves, and whatever may befall them."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

import world as worlds
from mptcplab import Error
from mptcplab.results.campaign import Campaign
from mptcplab.results.ledger import REASONS
from world import World, scheduled

ZONE = "Europe/Berlin"
SCENARIO = """\
schema = 1

[transfer]
direction = "download"
size = "1 MB"

[path.lte]
interface = "wwan0"

[path.wifi]
interface = "wlan0"
"""
CAMPAIGN = """\
schema = 1
engine = "networks"
scenario = "field.toml"
time_zone = "Europe/Berlin"
hour_bin = 3

[[calendar]]
hours = "06:00-23:00"
visits = 6
for_days = 14

[budget.lte]
per_day = "40 MB"
per_month = "400 MB"
"""
THREE_DAYS = CAMPAIGN.replace("for_days = 14", "for_days = 3")
PER_DAY = 40_000_000
KILLS = 30


def written(place: Path, text: str = CAMPAIGN) -> Path:
    """Write a campaign and its scenario."""
    (place / "field.toml").write_text(SCENARIO)
    file = place / "weeks.toml"
    file.write_text(text)
    return file


def lived(world: World, file: Path, out: Path, chance: random.Random) -> int:
    """Run the schedule, killed at any moment, until it is over; gives how often that was."""
    killed = 0
    while True:
        # Somewhere in the next few visits.
        steps = chance.randrange(1, 700) if killed < KILLS else 0
        words = [sys.executable, *map(str, (worlds.__file__, world.place, file, out, steps))]
        done = subprocess.run(words, check=False, capture_output=True, text=True)
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
    place = tmp_path_factory.mktemp("lives")
    world = World(place / "world")
    chance = random.Random(7)
    killed = lived(world, written(place), place / "out", chance)
    assert killed >= KILLS
    return world, Campaign(place / "out")


def day_of(moment: datetime) -> str:
    return moment.astimezone(ZoneInfo(ZONE)).strftime("%Y-%m-%d")


def carried(world: World, path: str) -> Counter[int]:
    """Count what really passed a path, by the visit that had it pass."""
    found: Counter[int] = Counter()
    for one in world.truth():
        if one["what"] == "carried" and one["path"] == path:
            found[one["seed"] - 1] += one["count"]
    return found


def test_nothing_is_lost_or_doubled(lives: tuple[World, Campaign]) -> None:
    world, campaign = lives
    visits, runs = campaign.visits, campaign.runs
    assert visits["visit"].to_list() == list(range(visits.height))
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
    assert {"off", "away"} <= set(missed["reason"])


def test_a_budget_is_kept_to_the_byte(lives: tuple[World, Campaign]) -> None:
    world, campaign = lives
    truth, begun = carried(world, "lte"), dict(campaign.visits.select("visit", "begun").iter_rows())
    days: Counter[str] = Counter()
    for visit, count in truth.items():
        days[day_of(begun[visit])] += count
    assert max(days.values()) <= PER_DAY
    data = campaign.data.filter(path="lte")
    # No visit took more than was reserved for it before.
    assert (data["bytes"] <= data["reserved_bytes"]).all()
    told: Counter[int] = Counter()
    for visit, count in data.select("visit", "bytes").iter_rows():
        told[visit] += count
    for visit, attempts in data.group_by("visit").len().iter_rows():
        if attempts == 1 and visit in campaign.visits.filter(state="done")["visit"]:
            assert told[visit] == truth[visit]
        assert told[visit] >= truth[visit]
    # What nobody could count any more is taken for all that was reserved.
    assert any(told[visit] > truth[visit] for visit in told)


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
    world = World(tmp_path / "world")
    campaign = scheduled(world, written(tmp_path, THREE_DAYS), tmp_path / "out")
    visits = campaign.visits.filter(state="done")
    truth, data = carried(world, "lte"), campaign.data.filter(path="lte")
    assert dict(data.select("visit", "bytes").iter_rows()) == truth
    assert visits["attempts"].to_list() == [1] * visits.height
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
    words = missed["why"][0]
    assert words.startswith("lte has ")
    assert words.endswith("of the 10.0 MB of its day, and a visit may take 7.75 MB")
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
    world = World(tmp_path / "world")
    campaign = scheduled(world, written(tmp_path, THREE_DAYS), tmp_path / "out")
    assert set(campaign.failures["reason"]) == {"lte carried all 2.25 MB that its budget allows"}
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
    with pytest.raises(Error, match=r"ledger.jsonl:4: is no line of a ledger"):
        scheduled(world, file, out)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('hours = "06:00-23:00"', 'hours = "6-23"'), r'hours: 6-23 is not such as "06:00-23:00"'),
        (("visits = 6", 'visits = 6\ndays = ["Mo"]'), "Mo is no day; did you mean Mon"),
        (("Europe/Berlin", "Europe/Berli"), "Europe/Berli is no time zone"),
        (("hour_bin = 3", "hour_bin = 5"), "the hours of a day are no multiple of it"),
        (("hour_bin = 3", "repetitions = 3"), "has its visits instead"),
        (
            ("[budget.lte]", "[budget.lt]"),
            r"\[budget.lt\]: there is no such path; did you mean lte",
        ),
        (('per_day = "40 MB"', 'per_day = "4 MB"'), "may take 7.75 MB, more than the 4.00 MB"),
        (('per_day = "40 MB"', 'per_visit = "4 MB"'), "the runs of a visit may take 7.75 MB"),
    ],
)
def test_what_cannot_be_kept_is_refused_in_one_line(
    tmp_path: Path, change: tuple[str, str], words: str
) -> None:
    world = World(tmp_path / "world")
    with pytest.raises(Error, match=words) as refused:
        scheduled(world, written(tmp_path, CAMPAIGN.replace(*change)), tmp_path / "out")
    assert "\n" not in str(refused.value)
    assert world.truth() == []
