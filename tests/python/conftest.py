"""What the tests of the command and of the Python interface share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from small import SMALL

from campaigns import written
from command import Run, copied
from mptcplab import run, sweep
from mptcplab.results.campaign import Campaign
from mptcplab.results.comparison import Comparison

TYPE_CHECKING = False
if TYPE_CHECKING:
    from browser import Shown
    from playwright.sync_api import Browser

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def refused() -> str:
    """A capture of a download whose second path could not join."""
    return str(EXAMPLES / "refused" / "client.pcapng.gz")


@pytest.fixture(scope="session")
def mptcplab() -> Run:
    """Runs the command as a process of its own."""

    def run(*arguments: object, **settings: object) -> subprocess.CompletedProcess[str]:
        if settings.keys() <= {"cwd", "timeout"}:
            return copied(*arguments, **settings)  # type: ignore[arg-type]
        command = [sys.executable, "-m", "mptcplab", *map(str, arguments)]
        options = {"capture_output": True, "text": True, "timeout": 60, "check": False} | settings
        return subprocess.run(command, **options)  # type: ignore[call-overload, no-any-return]

    return run


@pytest.fixture(scope="session")
def campaign_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of six configurations."""
    return written(tmp_path_factory.mktemp("campaign"))


@pytest.fixture(scope="session")
def swept(campaign_file: Path) -> Campaign:
    """What came of it: for all tests, which must leave it as it is."""
    return sweep(campaign_file, out=campaign_file.parent / "out", jobs=2)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scenario") / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture(scope="session")
def ran(mptcplab: Run, small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "out"
    done = mptcplab("run", small, "--out", out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="session")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """A short download over Wi-Fi and LTE, beside plain TCP over each path."""
    out = tmp_path_factory.mktemp("runs") / "small"
    return run("wifi-lte", out=out, settings=["transfer.size=300kB"])


@pytest.fixture(scope="session")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """A download that loses a path for a while, beside plain TCP over each path."""
    return run(
        "path-lost",
        out=tmp_path_factory.mktemp("runs") / "lost",
        settings=["transfer.duration=9s", "timeline.0.at=4s", "timeline.1.at=6s"],
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser, for tests of pages."""
    from browser import chromium

    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def tab(browser: Browser, file: Path) -> Iterator[Shown]:
    """A tab in which tests open pages, one after the other."""
    from browser import WIDTHS, Shown

    page = Shown(browser, file, WIDTHS[0])
    yield page
    page.close()


@pytest.fixture
def shown(tab: Shown, file: Path) -> Shown:
    """The page that a module calls ``file``, as it is when it is opened."""
    tab.show(file)
    return tab


@pytest.fixture(scope="module")
def still(browser: Browser, file: Path) -> Iterator[Shown]:
    """One page for all tests that only look at it: drawing it takes longer than most of them."""
    from browser import WIDTHS, Shown

    page = Shown(browser, file, WIDTHS[0])
    yield page
    assert page.said == []
    page.close()
