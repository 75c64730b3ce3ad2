"""Figures as the summary prints them."""

from __future__ import annotations

from io import BytesIO, StringIO, TextIOWrapper

import pytest

from mptcplab.campaign.sweep import Progress
from mptcplab.cli.progress import line, swept
from mptcplab.cli.summary.page import Column, Page, draw
from mptcplab.labels import text


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (None, "–"),
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.00 kB"),
        (999_499, "999 kB"),
        (999_500, "1.00 MB"),
        (4_000_000, "4.00 MB"),
        (12_345_678_901, "12.3 GB"),
        (5e15, "5\u202f000 TB"),
    ],
)
def test_size(value: float | None, printed: str) -> None:
    assert text.size(value) == printed


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (None, "–"),
        (0, "0 ms"),
        (0.0000432, "0.04 ms"),
        (0.0204, "20.4 ms"),
        (0.9996, "1.00 s"),
        (74.25, "74.2 s"),
        (601, "10 min 01 s"),
        (7380, "2 h 03 min"),
    ],
)
def test_seconds(value: float | None, printed: str) -> None:
    assert text.seconds(value) == printed


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (None, "–"),
        (0, "0"),
        (0.004, "0.00"),
        (9.994, "9.99"),
        (9.995, "10.0"),
        (99.95, "100"),
        (1234.5, "1\u202f234"),
    ],
)
def test_figure(value: float | None, printed: str) -> None:
    assert text.figure(value) == printed


def test_rates_and_percentages() -> None:
    assert text.rate(10.08) == "10.1 Mbit/s"
    assert text.rate(0.0123) == "12.3 kbit/s"
    assert text.rate(1_200) == "1.20 Gbit/s"
    assert text.percent(0) == "0 %"
    assert text.percent(0.294) == "0.29 %"
    assert text.percent(12.34) == "12.3 %"


def test_names_from_captures_cannot_steer_the_terminal() -> None:
    assert text.clean("wlan0\x1b[2J\n") == "wlan0\ufffd[2J\ufffd"


def test_a_narrow_page_leaves_out_the_least_worth() -> None:
    columns = [
        Column("name", ["wifi"], left=True),
        Column("worth", ["1"], keep=2),
        Column("less", ["22"], keep=1),
    ]
    wide, narrow = StringIO(), StringIO()
    draw(Page(wide, width=80), columns)
    assert wide.getvalue() == "  name  worth  less\n  wifi      1    22\n"
    page = Page(narrow, width=80)
    page.width = 14
    draw(page, columns)
    table, note = narrow.getvalue().split("  left")
    assert table == "  name  worth\n  wifi      1\n"
    assert " ".join(note.split()) == "out for width: less; --json has all"


def test_a_stream_without_our_signs_gets_others() -> None:
    out = TextIOWrapper(BytesIO(), encoding="ascii")
    page = Page(out, width=80)
    draw(page, [Column("↓ a–b", ["1\u202f234 ± 5"]), Column("bar", ["██▌"])])
    page.facts(["a → b", "c"])
    out.flush()
    lines = out.buffer.getvalue().decode().splitlines()
    assert lines == ["       v a-b  bar", "  1 234 +- 5  ###", "  a -> b * c"]


def test_lines_are_wrapped_where_the_page_ends() -> None:
    out = StringIO()
    Page(out, width=40).paragraph("a word after another until the line is full", first="! ")
    assert out.getvalue() == "  ! a word after another until the line\n    is full\n"


def test_progress() -> None:
    assert line(2.0, 50_000_000, 100_000_000).endswith("50%  25.0 MB/s, 2 s left")
    assert line(2.0, 50_000_000, None) == "read 50.0 MB, 25.0 MB/s"
    assert line(2.0, 3_000, None) == "read 3.00 kB, 1.50 kB/s"


@pytest.mark.parametrize(
    ("progress", "printed"),
    [
        (Progress(1200, 0), f"{'─' * 30} 0 of 1\u202f200 runs"),
        (
            Progress(1200, 200, done=400, rate=44.4),
            f"{'━' * 15}{'─' * 15} 600 of 1\u202f200 runs  44.4/s, 14 s left",
        ),
        (
            Progress(100, 0, done=48, failed=2, rate=0.05),
            f"{'━' * 15}{'─' * 15} 50 of 100 runs  3.00/min, 16 min 40 s left, 2 failed",
        ),
    ],
)
def test_progress_of_a_campaign(progress: Progress, printed: str) -> None:
    assert swept(progress) == printed
