"""The page of a run with positions and radio: a track without a map, and no coordinates in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import Shown, chromium

import mptcplab

WALK = Path(__file__).parents[2] / "examples/walk"
BEGAN = "2026-11-25T09:30:00Z"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, cut short."""
    out = tmp_path_factory.mktemp("runs") / "walk"
    settings = ["transfer.duration=30s", "run.baselines=false"]
    mptcplab.run("walk", out=out, settings=settings)
    radio, positions = WALK / "radio.csv", WALK / "walk.gpx"
    mptcplab.annotate(out, radio=radio, positions=positions, began=BEGAN)
    return mptcplab.write_report(out / "mptcp", out=out / "page.html")


def test_the_track_and_the_signal_are_drawn(file: Path) -> None:
    with chromium() as browser:
        shown = Shown(browser, file, 1280)
        assert shown.said == []
        ids = shown.ask("page.charts.map((one) => one.id)")
        # The signal stands below the throughput, on the same time.
        assert ids[:3] == ["throughput", "signal", "signal-quality"]
        names = "page.charts.find((one) => one.id === 'signal').series.map((one) => one.name)"
        assert shown.ask(names) == ["wifi RSSI", "lte RSRP"]
        assert shown.ask("page.tracks.map((one) => one.id)") == ["track", "track-signal"]
        counts = (
            "page.tracks.map((one) => [one.line.x.length, one.series.reduce((n, some) => n + "
            "some.x.length, 0)])"
        )
        assert all(line == points >= 29 for line, points in shown.ask(counts))
        for name in ("track", "track-signal"):
            assert shown.page.locator(f"#{name} canvas").count() == 1
        shown.close()


def test_the_page_says_where_it_comes_from_and_not_where_it_was(file: Path) -> None:
    text = file.read_text("utf-8")
    assert "from walk.gpx" in text
    # As the log has it.
    assert 'lat="50.00' in (WALK / "walk.gpx").read_text()
    assert "50.00" not in text
