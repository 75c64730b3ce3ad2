"""Pages as a browser shows them: Debian's Chromium, without a network."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, Page, sync_playwright

from requirements import missing, need_tool

Scheme = Literal["light", "dark"]

HEIGHT = 900
WIDTHS = (1280, 1920)
AXE = Path(__file__).parents[2] / "report-ui/node_modules/axe-core/axe.min.js"
# Names of all texts that ECharts drew, with their boxes on the page.
TEXTS = """plots.map((plot) => {
  const frame = plot.root.getBoundingClientRect();
  const all = plot.echarts.getZr().storage.getDisplayList(true);
  return all.filter((one) => one.type === "tspan").map((one) => {
    const box = one.getBoundingRect().clone();
    if (one.transform) box.applyTransform(one.transform);
    return [one.style.text, frame.left + box.x, frame.top + box.y, box.width, box.height];
  });
})"""

MOST_LOOKS = 1500
# What has a place of its own on the page.
SEEN = (
    "h1, h2, h3, p, .badges li, .verdict li, .head .legend li, .tools button, .controls label, "
    ".toolbar label, .toolbar input[type=number], .toolbar select, .toolbar button, .plot, "
    "summary, dt, dd"
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser."""
    need_tool("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox"],
            # They take room, as they do for people.
            ignore_default_args=["--hide-scrollbars"],
        )
        yield browser
        browser.close()


class Shown:
    """A page that is open, and what it said and asked for meanwhile."""

    def __init__(
        self, browser: Browser, file: Path, width: int, height: int = HEIGHT, **settings: Any
    ) -> None:
        context = browser.new_context(
            offline=True, viewport={"width": width, "height": height}, **settings
        )
        # As long as a loaded machine may take: what never comes fails all the same.
        context.set_default_timeout(120_000)
        self.page: Page = context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.open(file.resolve().as_uri())

    def show(
        self, file: Path, width: int = WIDTHS[0], height: int = HEIGHT, scheme: Scheme = "light"
    ) -> None:
        """Open a page as another tab would, which takes more than twice as long."""
        self.page.mouse.move(0, 0)
        self.page.emulate_media(media="null", color_scheme=scheme)
        self.page.set_viewport_size({"width": width, "height": height})
        self.said.clear()
        self.asked.clear()
        self.open(file.resolve().as_uri())

    def open(self, address: str) -> None:
        """Open it, and wait until all is drawn."""
        self.page.goto("about:blank")
        self.page.goto(address)
        # Waiting for a function would be to evaluate text in the page, which its policy forbids.
        for _ in range(MOST_LOOKS):
            if self.page.evaluate("Boolean(window.mptcplab?.drawn)"):
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"{address} is never drawn: {self.said}")

    def ask(self, code: str, argument: object = None) -> Any:
        """Evaluate a function of the page's state."""
        return self.page.evaluate(
            f"(argument) => ((page, view, plots) => {code})"
            "(mptcplab.page, mptcplab.view, mptcplab.plots)",
            argument,
        )

    def close(self) -> None:
        """Close it."""
        self.page.context.close()


def column(shown: Shown, chart: str, number: int, name: str) -> list[float]:
    """A column of a series as the page holds it."""
    found: list[float] = shown.ask(
        f"Array.from(page.charts.find((one) => one.id === {chart!r}).series[{number}].{name})"
    )
    return found


def violations(shown: Shown) -> list[list[str]]:
    """Give what axe-core finds wrong for people who see, hear or move otherwise: rule, elements."""
    if not AXE.exists():
        missing("axe-core is not installed: npm --prefix report-ui ci")
    shown.page.evaluate(f"{AXE.read_text('utf-8')}; 0")
    found: list[list[str]] = shown.page.evaluate(
        """axe.run().then(({ violations }) => violations.map(({ id, nodes }) =>
          [id, ...nodes.map(({ html }) => html.slice(0, 200))]))"""
    )
    return found


def right_ends(shown: Shown) -> set[float]:
    """Give where on the page the plot areas of all charts end."""
    ends = shown.ask(
        """plots.filter((plot) => plot.root.clientWidth).map((plot) => {
          const area = plot.echarts.getModel().getComponent("grid").coordinateSystem.getRect();
          return plot.root.getBoundingClientRect().left + area.x + area.width;
        })"""
    )
    return {round(end, 1) for end in ends}


def assert_apart(shown: Shown, *, least: int) -> None:
    """Hold texts of charts, and ``least`` parts of the page, not to cover each other."""
    frames = shown.ask(
        "plots.map((plot) => { const box = plot.root.getBoundingClientRect();"
        " return [box.left, box.top, box.width, box.height]; })"
    )
    drawn = [
        (texts, frame) for texts, frame in zip(shown.ask(TEXTS), frames, strict=True) if frame[2]
    ]
    assert drawn
    for texts, frame in drawn:
        assert len(texts) > 4
        for one, other in itertools.combinations(texts, 2):
            assert not _overlap(one[1:], other[1:]), f"{one} and {other}"
        for text in texts:
            assert _within(text[1:], frame), f"{text} leaves {frame}"
    boxes = shown.page.evaluate(
        """(seen) => [...document.querySelectorAll(seen)]
          .filter((one) => one.checkVisibility() && !one.closest(".wide"))
          .map((one) => {
            const { left, top, width, height } = one.getBoundingClientRect();
            return [one.innerText.slice(0, 30), left, top, width, height];
          })""",
        SEEN,
    )
    boxes = [box for box in boxes if box[3] and box[4]]
    assert len(boxes) > least
    for one, other in itertools.combinations(boxes, 2):
        nested = _within(one[1:], other[1:]) or _within(other[1:], one[1:])
        assert nested or not _overlap(one[1:], other[1:]), f"{one} and {other}"


def _overlap(one: list[float], other: list[float]) -> bool:
    """Boxes share more than the half pixel that rounding makes."""
    return all(
        min(one[axis] + one[axis + 2], other[axis] + other[axis + 2]) - max(one[axis], other[axis])
        > 0.5
        for axis in (0, 1)
    )


def _within(inner: list[float], outer: list[float]) -> bool:
    return all(
        outer[axis] - 0.5 <= inner[axis]
        and inner[axis] + inner[axis + 2] <= outer[axis] + outer[axis + 2] + 0.5
        for axis in (0, 1)
    )
