"""Hours of the day: which have visits, and how results show them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from browser import Shown, chromium

from mptcplab.campaign import calendar
from mptcplab.campaign.calendar import Calendar
from mptcplab.charts.campaign.page import describe
from mptcplab.cli.summary.campaign import print_campaign
from mptcplab.results import overview
from mptcplab.results.campaign import Campaign
from mptcplab.schedule.schedule import VisitOutcome
from world import THREE_DAYS, ZONE, World, known, scheduled, written


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
    assert re.search(r"significantly more .* in \d of 6 hours|in any of 6 hours", page.verdict[0])
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
