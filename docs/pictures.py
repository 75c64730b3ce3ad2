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
IPERF = "--mptcpize --serve 'iperf3 -s -1' -- iperf3 -c server -R -b 4M -t 14"
WALK = DOCS.parent / "examples/walk"
# Of which page, and the charts that are shown; without any its top is.
PHOTOGRAPHS = {
    "guard.png": (
        f"mptcplab shell guard --out with {IPERF} ; "
        f"mptcplab shell guard --out without --set mptcp.path_manager=linux {IPERF} ; "
        "mptcplab report with without --out runs/report.html",
        ("throughput",),
    ),
    "report.png": ("mptcplab run path-lost --out runs", ()),
    "track.png": (
        f"mptcplab run walk --out runs ; mptcplab annotate runs --radio {WALK / 'radio.csv'} "
        f"--positions {WALK / 'walk.gpx'} --began 2026-11-25T09:30:00Z ; mptcplab report runs",
        ("throughput", "signal", "track"),
    ),
}


def main() -> None:
    """Draw those that are named, or all."""
    for name in sys.argv[1:] or [*PHOTOGRAPHS, *FIGURES]:
        with TemporaryDirectory() as directory:
            take = photograph if name in PHOTOGRAPHS else draw
            take(name, Path(directory))
        print(f"docs/{name} written")


def draw(name: str, directory: Path) -> None:
    """Draw a figure as its page says."""
    page, line = FIGURES[name]
    if page:
        played((DOCS / page).read_text(), directory)
    printed_by(f"{line} --out {DOCS / name}", directory)


def photograph(name: str, directory: Path) -> None:
    """Make a page, and photograph its top or some of its charts."""
    line, charts = PHOTOGRAPHS[name]
    printed_by(line, directory)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1120, "height": 1130})
        tab.goto((directory / "runs/report.html").as_uri())
        # The page's policy forbids to wait for a function, which is text that it evaluates.
        while not tab.evaluate("Boolean(window.mptcplab?.drawn)"):
            tab.wait_for_timeout(20)
        if charts:
            # Without scrolling, in which what stays at the top would cover them.
            tab.set_viewport_size({"width": 1120, "height": 2600})
            tab.evaluate(
                "shown => document.querySelectorAll('.charts > figure').forEach("
                "one => { one.hidden = !shown.includes(one.id); })",
                list(charts),
            )
            tab.locator(".charts").screenshot(path=DOCS / name)
        else:
            tab.screenshot(path=DOCS / name)
        browser.close()


if __name__ == "__main__":
    main()
