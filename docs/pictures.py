"""Draws the pictures of the documentation anew: ``python docs/pictures.py [NAME...]``.

They are no part of ``generate.py``, as other versions of Chromium and of fonts draw other pixels.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from generate import played, printed_by
from playwright.sync_api import sync_playwright

import mptcplab

DOCS = Path(__file__).parent
# What draws each, in an empty directory or in that of the page that is one sitting.
FIGURES = {
    "throughput.png": (
        None,
        "mptcplab run path-lost ; mptcplab figure throughput runs/path-lost-1",
    ),
    "boxes.png": (
        None,
        "mptcplab sweep size-and-controller ; "
        "mptcplab figure boxes campaigns/size-and-controller --size 5x2.4in",
    ),
    "gain.png": ("tutorial.md", "mptcplab figure gain campaigns/cafe-losses"),
    "own-network.png": ("own-network.md", "mptcplab figure gain campaigns/sizes"),
}


def main() -> None:
    """Draw those that are named, or all."""
    for name in sys.argv[1:] or ["report.png", *FIGURES]:
        with TemporaryDirectory() as place:
            if name == "report.png":
                photograph(Path(place))
            else:
                draw(name, Path(place))
        print(f"docs/{name} written")


def draw(name: str, place: Path) -> None:
    """Draw a figure as its page says."""
    page, line = FIGURES[name]
    if page:
        played((DOCS / page).read_text(), place)
    printed_by(f"{line} --out {DOCS / name}", place)


def photograph(place: Path) -> None:
    """Run path-lost and photograph the top of its page."""
    with sync_playwright() as playwright:
        page = mptcplab.run("path-lost", out=place / "runs").report()
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1120, "height": 1130})
        tab.goto(page.as_uri())
        # The page's policy forbids to wait for a function, which is text that it evaluates.
        while not tab.evaluate("Boolean(window.mptcplab?.drawn)"):
            tab.wait_for_timeout(20)
        tab.screenshot(path=DOCS / "report.png")
        browser.close()


if __name__ == "__main__":
    main()
