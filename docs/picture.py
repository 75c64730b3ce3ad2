"""Draws docs/report.png: the top of a page, as Chromium shows it.

python docs/picture.py
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

import mptcplab


def main() -> None:
    """Run path-lost and photograph its page."""
    with TemporaryDirectory() as place, sync_playwright() as playwright:
        page = mptcplab.run("path-lost", out=Path(place) / "runs").report()
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1120, "height": 1130})
        tab.goto(page.as_uri())
        # The page's policy forbids to wait for a function, which is text that it evaluates.
        while not tab.evaluate("Boolean(window.mptcplab?.drawn)"):
            tab.wait_for_timeout(20)
        tab.screenshot(path=Path(__file__).parent / "report.png")
        browser.close()


if __name__ == "__main__":
    main()
