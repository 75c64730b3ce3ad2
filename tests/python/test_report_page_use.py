"""The page of a run in use: zoomed, exported, without a mouse, on paper, narrow and dark."""

from __future__ import annotations

import csv
import re
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from browser import (
    HEIGHT,
    TEXTS,
    WIDTHS,
    Scheme,
    Shown,
    assert_apart,
    column,
    right_ends,
    violations,
)

from mptcplab.results.comparison import Comparison
from requirements import need_tool


@pytest.fixture(scope="module")
def file(lost: Comparison) -> Path:
    return lost.report()


def test_zoom_is_shared_and_in_the_address(shown: Shown, file: Path) -> None:
    plot = shown.page.locator("#rtt .plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    y = box["y"] + 100
    shown.page.mouse.move(box["x"] + 400, y)
    shown.page.mouse.down()
    shown.page.mouse.move(box["x"] + 700, y, steps=4)
    expected = shown.ask("[400, 700].map((left) => plots[3].timeAt(left))")
    shown.page.mouse.up()
    spans = shown.ask(
        "plots.flatMap((plot) => plot.echarts.getOption().xAxis.map(({ min, max }) => [min, max]))"
    )
    assert len(spans) > 8
    assert all(span == spans[0] for span in spans)
    assert spans[0] == pytest.approx(expected, abs=1e-6)
    labels = [text[0] for text in shown.ask(TEXTS)[3]]
    ticks = [float(text) for text in labels if re.fullmatch(r"\d+\.\d+", text)]
    assert sum(expected[0] <= tick <= expected[1] for tick in ticks) > 4
    assert shown.page.input_value("input[name=from]") == f"{expected[0]:.6f}".rstrip("0")
    shown.open(shown.page.url)
    assert shown.ask("[view.span.from, view.span.to]") == pytest.approx(expected, abs=2e-6)
    shown.page.locator("#rtt .plot").dblclick(position={"x": 500, "y": 100})
    assert shown.ask("view.span") == shown.ask("view.whole")
    assert "from" not in shown.page.url


def test_a_subflow_is_switched_off_everywhere(shown: Shown) -> None:
    drawn = "plots.map((plot) => plot.drawn.map((one) => one.series.subflow))"
    assert any(0 in plot for plot in shown.ask(drawn))
    shown.page.uncheck("input[name=subflow-0]")
    assert not any(0 in plot for plot in shown.ask(drawn))
    with_subflows = "plots.filter((plot) => plot.chart.id !== 'beside').map("
    assert all(1 in plot for plot in shown.ask(drawn.replace("plots.map(", with_subflows)))
    assert shown.page.url.endswith("#hide=0")
    events = shown.page.locator("#event-table tbody tr")
    assert "wifi" not in {row.locator("td").nth(1).inner_text() for row in events.all()}
    shown.open(shown.page.url)
    assert not shown.page.is_checked("input[name=subflow-0]")
    assert not any(0 in plot for plot in shown.ask(drawn))


def test_exports(shown: Shown, lost: Comparison, tmp_path: Path) -> None:
    def save(kind: str) -> Path:
        with shown.page.expect_download() as download:
            shown.page.click(f"#rtt button:text-is('{kind}')")
        assert download.value.suggested_filename == f"path-lost-rtt.{kind.lower()}"
        download.value.save_as(tmp_path / kind)
        return tmp_path / kind

    picture = save("PNG").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20], "big") == 2000
    root = ET.parse(save("SVG")).getroot()
    text = "".join(root.itertext())
    assert root.tag.endswith("svg")
    assert "Round-trip time" in text
    assert "wifi" in text
    held = shown.ask("plots[3].drawn.reduce((count, one) => count + one.slice.numbers.length, 0)")
    assert held > 2000
    assert sum(path.get("d", "").upper().count("M") for path in root.iter()) >= held
    with save("CSV").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    there = lost.mptcp.rtt.filter(direction="down").sort("subflow", "at_ns")
    assert [float(row["Round-trip time (ms)"]) for row in rows] == there["rtt_ms"].to_list()
    assert [int(row["record"]) for row in rows] == there["record"].to_list()
    assert {row["capture"] for row in rows} == {"server.pcapng"}


def test_charts_share_their_axis_to_the_pixel(tab: Shown, file: Path) -> None:
    # So high that the first chart is drawn before the page needs a scrollbar.
    tab.show(file, height=2400)
    assert tab.ask("plots.length") > 5
    assert len(right_ends(tab)) == 1


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_overlaps(tab: Shown, file: Path, width: int) -> None:
    tab.show(file, width)
    assert_apart(tab, least=60)
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_point_leads_to_its_packet(shown: Shown, lost: Comparison) -> None:
    """By mouse; and tshark finds a packet of that time there, an acknowledgement to the sender."""
    need_tool("tshark")
    plot = shown.page.locator("#rtt .plot")
    plot.scroll_into_view_if_needed()
    shown.page.fill("input[name=to]", "0.3")
    shown.page.press("input[name=to]", "Enter")
    point = shown.ask(
        "(({ left, top, number }) => ({ left, top, number }))(plots[3].beside(null, 1))"
    )
    plot.click(position={"x": point["left"], "y": point["top"]})
    record = int(column(shown, "rtt", 0, "record")[point["number"]])
    at = column(shown, "rtt", 0, "x")[point["number"]]
    panel = shown.page.locator("aside.panel")
    assert panel.is_visible()
    assert f"frame.number == {record}" in panel.inner_text()
    start = lost.mptcp.connections["start_ns"].item()
    command = panel.locator("code").nth(1).inner_text()
    assert command == f"tshark -r server.pcapng -Y 'frame.number == {record}' -V"
    asked = ["-T", "fields", "-e", "frame.time_epoch", "-e", "tcp.len", "-e", "tcp.dstport"]
    capture = lost.mptcp.directory / "server.pcapng"
    found = subprocess.run(
        ["tshark", "-n", "-r", capture, "-Y", f"frame.number == {record}", *asked],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    seconds, _, fraction = found[0].partition(".")
    assert int(seconds) * 10**9 + int(fraction.ljust(9, "0")) - start == pytest.approx(
        at * 1e9, abs=1
    )
    assert found[1:] == ["0", "8080"]


def test_it_works_without_a_mouse(shown: Shown) -> None:
    plot = shown.page.locator("#rtt .plot")
    for _ in range(80):
        shown.page.keyboard.press("Tab")
        if plot.evaluate("(one) => one === document.activeElement"):
            break
    else:
        pytest.fail("the chart cannot be reached by Tab")
    whole = shown.ask("view.whole.to - view.whole.from")
    shown.page.keyboard.press("+")
    assert shown.ask("view.span.to - view.span.from") == pytest.approx(whole / 2)
    before = shown.ask("view.span.from")
    shown.page.keyboard.press("ArrowLeft")
    assert shown.ask("view.span.from") < before
    shown.page.keyboard.press("0")
    assert shown.ask("view.span") == shown.ask("view.whole")
    shown.page.keyboard.press("]")
    shown.page.keyboard.press("]")
    record = int(column(shown, "rtt", 0, "record")[1])
    reader = shown.page.locator(".reader")
    assert f"packet {record} of server.pcapng" in reader.inner_text()
    shown.page.keyboard.press("Enter")
    assert f"frame.number == {record}" in shown.page.inner_text("aside.panel")
    shown.page.keyboard.press("Escape")
    assert not shown.page.is_visible("aside.panel")
    assert plot.evaluate("(one) => one === document.activeElement")


def test_every_chart_and_control_has_a_name(still: Shown) -> None:
    nameless = still.page.evaluate(
        """[...document.querySelectorAll("button, input, figure, .plot, [role]")].filter((one) =>
          !(one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") || one.innerText
            || one.labels?.length || one.closest("[hidden]"))).map((one) => one.outerHTML)"""
    )
    assert nameless == []
    described = still.page.get_attribute("#rtt .canvas", "aria-label")
    assert described is not None
    assert described.startswith("Round-trip time from 0.000 to")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_axe_finds_nothing(tab: Shown, file: Path, width: int, scheme: Scheme) -> None:
    tab.show(file, width, scheme=scheme)
    assert violations(tab) == []
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width


def test_paper_is_white_and_without_buttons(tab: Shown, file: Path) -> None:
    tab.show(file, scheme="dark")
    back = "getComputedStyle(document.body).backgroundColor"
    assert tab.page.evaluate(back) == "rgb(21, 25, 30)"
    tab.page.emulate_media(media="print", color_scheme="dark")
    assert tab.page.evaluate(back) == "rgb(255, 255, 255)"
    assert not tab.page.is_visible(".toolbar")
    tab.page.set_viewport_size({"width": 700, "height": HEIGHT})
    for canvas in tab.page.locator("canvas").all():
        box = canvas.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 700
        assert box["height"] > 40
    # No table scrolls on paper: a browser scales the page until it fits.
    overflow = "all => all.map(one => getComputedStyle(one).overflowX)"
    assert set(tab.page.eval_on_selector_all(".wide", overflow)) == {"visible"}
    assert tab.page.pdf().startswith(b"%PDF")
    assert tab.said == []
