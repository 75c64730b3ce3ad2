"""Pages as a browser shows them: Debian's Chromium, without a network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from requirements import need_tool

HEIGHT = 900


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser."""
    need_tool("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


class Shown:
    """A page that is open, and what it said and asked for meanwhile."""

    def __init__(self, browser: Browser, file: Path, width: int, **settings: Any) -> None:
        context = browser.new_context(
            offline=True, viewport={"width": width, "height": HEIGHT}, **settings
        )
        self.page: Page = context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.open(file.resolve().as_uri())

    def open(self, address: str) -> None:
        """Open it, and wait until all is drawn."""
        self.page.goto("about:blank")
        self.page.goto(address)
        self.page.wait_for_function("window.mptcplab?.drawn")

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
