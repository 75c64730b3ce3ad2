"""Schedules: two weeks of a clock that a test moves, and whatever may befall them."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from browser import Shown, chromium

import world as worlds
from command import Run, called
from mptcplab import Error
from mptcplab.campaign import calendar, sheet
from mptcplab.campaign.calendar import Calendar
from mptcplab.charts.campaign.page import describe
from mptcplab.cli.schedule import _line
from mptcplab.cli.summary.campaign import print_campaign
from mptcplab.engines.engine import Carried
from mptcplab.engines.field.engine import Field
from mptcplab.results import overview
from mptcplab.results.campaign import Campaign
from mptcplab.results.ledger import REASONS, Attempt
from mptcplab.scenario.scenario import load
from mptcplab.schedule import schedule
from mptcplab.schedule.forecast import forecast
from mptcplab.schedule.schedule import VisitOutcome
from mptcplab.schedule.visiting import used
from serving import serving
from world import Here, World, known, scheduled

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
# For whoever is killed neither is enough.
PER_DAY, PER_MONTH = 15_000_000, 100_000_000
SCARCE = CAMPAIGN.replace("40 MB", "15 MB").replace("400 MB", "100 MB")
KILLS = 30
# As long as a loaded machine may take from one kill to the next.
LIFE_SECONDS = 600


def written(directory: Path, text: str = CAMPAIGN) -> Path:
    """Write a campaign and its scenario."""
    (directory / "field.toml").write_text(SCENARIO)
    file = directory / "weeks.toml"
    file.write_text(text)
    return file


def lived(world: World, file: Path, out: Path, chance: random.Random) -> int:
    """Run the schedule, killed at any moment, until it is over; gives how often that was."""
    killed = 0
    while True:
        # Somewhere in the next few visits.
        steps = chance.randrange(1, 700) if killed < KILLS else 0
        words = [str(word) for word in (world.directory, file, out, steps)]
        done = called(worlds.killed, words, timeout=LIFE_SECONDS)
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
        found = forecast(sheet.load(file), tmp_path / "out", world.now())
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
    world, file, messages = World(tmp_path / "world"), written(tmp_path, THREE_DAYS), list[str]()

    def tell(one: VisitOutcome) -> None:
        messages.append(_line(one, sheet.load(file)))

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
        schedule.run(sheet.load(file), out, clock=world, executor=Interrupted)
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


def test_hours_that_clocks_leave_out_have_no_visit() -> None:
    zone = ZoneInfo(ZONE)
    # On 29 March 2026 clocks are put forward from 02:00 to 03:00.
    begun = datetime(2026, 3, 28, 12, tzinfo=UTC)

    def dues(start: int, end: int) -> list[str]:
        one = Calendar(frozenset(range(7)), start, end, 4, timedelta(days=1), timedelta(minutes=10))
        found = calendar.visits([one], begun, zone, 1, 1)
        return [visit.due.astimezone(zone).strftime("%H:%M") for visit in found]

    assert dues(2 * 60, 3 * 60) == []
    assert dues(2 * 60 + 10, 2 * 60 + 50) == []
    until = dues(60, 2 * 60 + 30)
    assert len(until) == 4
    assert all("01:00" <= due < "02:00" for due in until)
    since = dues(2 * 60 + 30, 4 * 60)
    assert len(since) == 4
    assert all("03:00" <= due < "04:00" for due in since)


@pytest.fixture(scope="module")
def three_days(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campaign]:
    directory = tmp_path_factory.mktemp("days")
    world = World(directory / "world")
    text = THREE_DAYS.replace("visits = 6", "visits = 12")
    campaign = scheduled(world, written(directory, text), directory / "out")
    # Pages ask it what it is.
    with known(world):
        yield campaign


def test_the_hour_of_the_day_is_an_axis(three_days: Campaign) -> None:
    hours = three_days.axes["hour"]
    assert hours == ["06-09", "09-12", "12-15", "15-18", "18-21", "21-24"]
    begun = dict(three_days.visits.select("visit", "begun").iter_rows())
    for hour, visit in three_days.runs.select("hour", "visit").iter_rows():
        local = begun[visit].astimezone(ZoneInfo(ZONE)).hour
        first, last = map(int, hour.split("-"))
        assert first <= local < last
    rows = {one["axes"]["hour"]: one for one in overview.configurations(three_days)}
    # As the world has it, whose evening begins at 18 in UTC: 19 here.
    for hour, slower in (("12-15", 1.0), ("21-24", 0.5)):
        for name, mbps in (("mptcp", 26.0), ("tcp-lte", 10.0), ("tcp-wifi", 20.0)):
            found = rows[hour]["runs"][name]["throughput_mbps"]
            assert found["mean"] == pytest.approx(mbps * slower, rel=0.06)
        gain = rows[hour]["gain"]
        assert gain["best_path"] == "wifi"
        assert gain["low"] < gain["mean"] < gain["high"]
        assert gain["mean"] == pytest.approx(0.3, abs=0.06)


def test_the_hour_is_that_at_which_a_visit_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Visits that wait for a path may begin in the next hour, where none is due."""
    world, zone = World(tmp_path / "world"), ZoneInfo(ZONE)

    def away() -> dict[str, str]:
        return {"wifi": "is off"} if world.now().astimezone(zone).hour < 11 else {}

    monkeypatch.setattr(world, "away", away)
    text = THREE_DAYS.replace("06:00-23:00", "10:53-10:59").replace("hour_bin = 3", "hour_bin = 1")
    file = written(tmp_path, text.replace("visits = 6", "visits = 1"))
    hours = list[list[Any]]()

    def report(outcome: VisitOutcome) -> None:
        hours.append(Campaign(outcome.directory).axes["hour"])

    campaign = scheduled(world, file, tmp_path / "out", report=report)
    assert hours == [["10-11", "11-12"], ["10-11", "11-12"], ["11-12"]]
    visits = campaign.visits
    assert set(visits["state"]) == {"done"}
    for due, begun in visits.select("due", "begun").iter_rows():
        assert (due.astimezone(zone).hour, begun.astimezone(zone).hour) == (10, 11)
    assert set(campaign.runs["hour"]) == set(visits["hour"]) == {"11-12"}
    (row,) = overview.configurations(campaign)
    assert row["axes"] == {"hour": "11-12"}
    assert row["gain"]["n"] == visits.height == 3
    # Whoever opens it again finds the same.
    again = scheduled(world, file, tmp_path / "out")
    assert again.runs.equals(campaign.runs)


def test_a_visit_waits_also_for_less_than_the_time_between_tries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, asked = World(tmp_path / "world"), list[datetime]()

    def away() -> dict[str, str]:
        asked.append(world.now())
        return {"wifi": "is off"} if world.now() < asked[0] + timedelta(seconds=20) else {}

    monkeypatch.setattr(world, "away", away)
    text = THREE_DAYS.replace("visits = 6", 'visits = 1\ngrace = "25 s"')
    campaign = scheduled(
        world, written(tmp_path, text.replace("for_days = 3", "for_days = 1")), tmp_path / "out"
    )
    (visit,) = campaign.visits.iter_rows(named=True)
    assert visit["state"] == "done"
    assert visit["begun"] > visit["due"] + timedelta(seconds=20)


def test_summary_and_page_tell_hours_and_their_zone(
    three_days: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    print_campaign(three_days)
    output = capsys.readouterr().out
    lines = [line.split()[0] for line in output.splitlines() if line.strip()]
    assert [line for line in lines if line in three_days.axes["hour"]] == three_days.axes["hour"]
    assert "hour: of the day in Europe/Berlin" in output
    visits, gone = three_days.visits, "wifi: there is no interface wlan0"
    missed = visits.filter(state="missed")
    done = visits.height - missed.height
    assert set(missed["reason"]) == {"away"}
    assert f"{visits.height} visits: {done} done, {missed.height} away; carried: lte " in output
    rows = []
    for visit, due in missed.select("visit", "due").iter_rows():
        local = due.astimezone(ZoneInfo(ZONE)).strftime("%a %Y-%m-%d %H:%M")
        assert f"{local} missed: {gone}" in output
        rows.append([str(visit), local, "away", gone])
    page = describe(three_days)
    runs = f"{3 * missed.height} of {3 * visits.height} runs were missed"
    assert f"{runs}: see the list of visits below." in page.verdict
    assert "still to be done" not in " ".join(page.verdict)
    assert re.search(r"significantly more in \d of 6 hours|in any of 6 hours", page.verdict[0])
    silent = "Nobody captured: round trips and out-of-order delays are not known."
    assert page.verdict[-1] == silent
    (hour,) = page.axes
    assert (hour.name, hour.keys) == ("hour", ["hour of the day in Europe/Berlin"])
    (table,) = page.tables
    assert table.rows == rows
    assert {one.group for one in page.gains} == set(range(6))
    assert all(one.low is not None for one in page.gains if one.n > 1)


def test_the_contents_of_the_page_list_what_is_drawn(three_days: Campaign) -> None:
    """Without captures there are no curves, and no links to them."""
    three_days.report()
    with chromium() as browser:
        page = Shown(browser, three_days.directory / "report.html", 1400)
        listed = page.ask("""[...document.querySelectorAll("nav[aria-label=contents] a")]
            .filter((one) => one.offsetParent).map((one) => one.hash.slice(1))""")
        seen = page.ask("argument.filter((id) => document.getElementById(id).offsetParent)", listed)
        page.close()
    assert listed == seen
    assert "gain" in listed
    assert "rtt" not in listed


def command(mptcplab: Run, directory: Path, *words: str) -> tuple[int, str, str]:
    """Run ``mptcplab schedule`` for the example, with a server that is nowhere."""
    token = directory / "token"
    if not token.exists():
        token.touch(0o600)
        token.write_text("a-token-of-no-server")
    (directory / "field.toml").write_text(f'{SCENARIO}\n[field]\ntoken = "{token}"\n')
    text = CAMPAIGN.replace("networks", "field").replace("visits = 6", "visits = 8")
    (directory / "weeks.toml").write_text(text)
    done = mptcplab(
        "schedule", "weeks.toml", "--server", f"127.0.0.1:1#{'0' * 64}", *words, cwd=directory
    )
    return done.returncode, done.stdout, done.stderr


def test_a_dry_run_tells_data_and_time_and_leaves_nothing(mptcplab: Run, tmp_path: Path) -> None:
    status, out, _ = command(mptcplab, tmp_path, "--dry-run")
    assert status == 0
    assert "at most 8 a day: 3 runs each" in out
    assert "lte  at most 7.75 MB in a visit, 62.0 MB in a day" in " ".join(out.split("\n"))
    assert "its budget has room for 5 visits a day" in out
    assert "nothing was sent" in out
    document = json.loads(command(mptcplab, tmp_path, "--dry-run", "--json")[1])
    lte = next(one for one in document["paths"] if one["path"] == "lte")
    assert lte["visit_bytes"] == 7_750_000
    assert lte["left_bytes"] == 7_750_000 * document["visits_to_come"]
    assert lte["room"] == {"day": 5, "month": 51}
    assert {path.name for path in tmp_path.iterdir()} == {"field.toml", "weeks.toml", "token"}


def test_a_dry_run_needs_neither_server_nor_token_and_a_schedule_does(
    mptcplab: Run, tmp_path: Path
) -> None:
    """Who reckons what a schedule takes may have no server yet."""
    command(mptcplab, tmp_path, "--dry-run")
    (tmp_path / "token").unlink()
    done = mptcplab("schedule", "weeks.toml", "--dry-run", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "lte  at most 7.75 MB in a visit" in done.stdout
    for words in ([], ["--server", f"127.0.0.1:1#{'0' * 64}"]):
        done = mptcplab("schedule", "weeks.toml", *words, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert ("there is no token" if words else "needs a server") in done.stderr
        assert not (tmp_path / "campaigns" / "weeks").exists()


def test_a_dry_sweep_of_real_networks_sends_nothing(mptcplab: Run, tmp_path: Path) -> None:
    command(mptcplab, tmp_path, "--dry-run")
    once = 'schema = 1\nengine = "field"\nscenario = "field.toml"\nrepetitions = 4\n'
    server = f'[set]\n"field.server" = "127.0.0.1:1#{"0" * 64}"\n'
    (tmp_path / "often.toml").write_text(once + server)
    done = mptcplab("sweep", "often.toml", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0
    # Nobody is at that port: whoever tried would say so.
    assert "failed" not in done.stdout
    assert "nothing was sent" in done.stdout
    assert "lte  at most 25.0 MB" in done.stdout
    document = json.loads(
        mptcplab("sweep", "often.toml", "--dry-run", "--json", cwd=tmp_path).stdout
    )
    assert document["most_bytes"] == {"lte": 25_000_000, "wifi": 25_000_000}
    assert document["run_s"] is None


def test_the_unit_runs_the_same_command(mptcplab: Run, tmp_path: Path) -> None:
    status, out, _ = command(mptcplab, tmp_path, "--systemd", "--out", "100 %")
    assert status == 0
    lines = dict(line.partition("=")[::2] for line in out.splitlines() if "=" in line)
    assert lines["WorkingDirectory"] == str(tmp_path)
    words = shlex.split(lines["ExecStart"].replace("%%", "%"))
    assert words[1:5] == ["-P", "-m", "mptcplab", "schedule"]
    assert words[-2:] == ["--out", "100 %"]
    if shutil.which("systemd-analyze"):
        file = tmp_path / "mptcplab-schedule.service"
        file.write_text(out)
        own = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
        subprocess.run(["systemd-analyze", "verify", "--user", file], check=True, env=own)


@pytest.mark.parametrize("name", ["a\nExecStart=/bin/false", "a\\tb", "a\x1b[2J"])
def test_a_name_that_a_unit_would_not_keep_is_refused(
    mptcplab: Run, tmp_path: Path, name: str
) -> None:
    status, out, err = command(mptcplab, tmp_path, "--systemd", "--out", name)
    assert (status, out, err.count("\n")) == (2, "", 1)
    (tmp_path / name).mkdir(parents=True)
    assert command(mptcplab, tmp_path / name, "--systemd")[:2] == (2, "")


def test_a_calendar_and_a_sweep_do_not_go_together(mptcplab: Run, tmp_path: Path) -> None:
    command(mptcplab, tmp_path, "--dry-run")
    done = mptcplab("sweep", "weeks.toml", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "mptcplab: weeks: has a [[calendar]]: mptcplab schedule runs it\n",
    )
    done = mptcplab("schedule", "size-and-controller", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "mptcplab: size-and-controller: has no [[calendar]]: mptcplab sweep runs it\n",
    )


def test_visits_while_the_server_is_away_are_missed(tmp_path: Path) -> None:
    """With the engine itself: nobody is at that port."""
    world = World(tmp_path / "world")
    file = local(tmp_path, f"127.0.0.1:1#{'0' * 64}", "a-token-of-no-server")
    warnings = list[str]()
    campaign = scheduled(world, file, tmp_path / "out", warn=warnings.append)
    # Weeks in which nothing can be measured begin with what to mend.
    assert warnings[0].startswith(
        "lo address: has no address to reach 127.0.0.1 from. To mend it: "
    )
    assert set(campaign.visits["reason"]) == {"away"}
    assert (
        "lte: no connection to 127.0.0.1 port 1 by lo: Connection refused"
        in (campaign.visits["why"][0])
    )
    assert campaign.runs.is_empty()


def local(directory: Path, line: str, token: str, more: str = "") -> Path:
    """Write a campaign for the engine itself, over this host's loopback."""
    (directory / "token").touch(0o600)
    (directory / "token").write_text(token)
    text = THREE_DAYS.replace("networks", "field").replace("visits = 6", "visits = 1")
    file = written(directory, text)
    field = f'[field]\nserver = "{line}"\ntoken = "{directory}/token"\n{more}'
    (directory / "field.toml").write_text(
        SCENARIO.replace("wwan0", "lo").replace("wlan0", "lo") + field
    )
    return file


def test_what_the_server_refuses_is_refused_at_the_start_and_waited_for_later(
    tmp_path: Path,
) -> None:
    """A visit that is tried burns its runs."""
    world, engine = World(tmp_path / "world"), Field()
    with serving(tmp_path) as server:
        other = replace(server.line, fingerprint="0" * 64)
        for line, token, words in (
            (server.line, "a-token-of-no-server", "refuses: wrong token"),
            (other, server.token, f"is another server than {other}: its fingerprint is"),
        ):
            file = local(tmp_path, str(line), token)
            with pytest.raises(Error, match=words):
                scheduled(world, file, tmp_path / "out")
            assert not (tmp_path / "out").exists()
            away = engine.away(load(str(tmp_path / "field.toml"))[1])
            assert set(away) == {"lte", "wifi"}
            assert all(words in why for why in away.values())
        local(tmp_path, str(server.line), server.token)
        assert engine.away(load(str(tmp_path / "field.toml"))[1]) == {}


def test_a_congestion_control_that_cannot_be_chosen_is_refused_at_the_start(tmp_path: Path) -> None:
    file = local(
        tmp_path,
        f"127.0.0.1:1#{'0' * 64}",
        "a-token-of-no-server",
        '[kernel]\ncongestion_control = "mine"\n',
    )
    with pytest.raises(Error, match="congestion control mine: No such file or directory"):
        scheduled(World(tmp_path / "world"), file, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('hours = "06:00-23:00"', 'hours = "6-23"'), r'hours: 6-23 is not such as "06:00-23:00"'),
        (("visits = 6", 'visits = 6\ndays = ["Mo"]'), "Mo is not a day; did you mean Mon"),
        (("Europe/Berlin", "Europe/Berli"), "Europe/Berli is not a time zone"),
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
    # Once it is mended, its days begin.
    assert not (tmp_path / "out").exists()
