"""How far it is, on the terminal, once it takes longer than a second."""

from __future__ import annotations

import math
import sys
import time

from mptcplab.cli import say
from mptcplab.cli.summary.page import PLAIN, carries
from mptcplab.labels.text import clean, count, figure, plural, seconds, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from mptcplab.campaign.sweep import Progress

PATIENCE = 1.0
STEP = 0.1


class _Line:
    """A line on standard error that is rewritten in place and gone at the end."""

    def __init__(self) -> None:
        self._begin()
        self._shown = False
        self._terminal = sys.stderr.isatty() and not say.quiet

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def _begin(self) -> None:
        self._begun = time.monotonic()
        self._due = self._begun + PATIENCE

    def _is_due(self) -> bool:
        now = time.monotonic()
        if not self._terminal or now < self._due:
            return False
        self._due = now + STEP
        return True

    def _elapsed(self) -> float:
        return time.monotonic() - self._begun

    def _show(self, text: str) -> None:
        self._shown = True
        text = clean(text)
        self._print(text if carries(sys.stderr, text) else text.translate(PLAIN))

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            self._print("")
            self._shown = False

    def _print(self, text: str) -> None:
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


class Reading(_Line):
    """How far the reading of captures is."""

    def __call__(self, done: int, total: int | None) -> None:
        """Take note that ``done`` bytes of ``total`` were read."""
        if self._is_due():
            self._show(line(self._elapsed(), done, total))


class Running(_Line):
    """How far each run is."""

    def __init__(self, where: str, counts: str) -> None:
        super().__init__()
        self._where = where
        self._describe = DESCRIBED[counts]
        self._what = ""

    def begin(self, what: str) -> Running:
        """Take note that the run ``what`` begins."""
        say.detail(f"{self._where} {what} begins")
        self._what = what
        self._begin()
        return self

    def watch(self, directory: Path) -> None:
        """Ignore the directory of the run: one line shows nothing of it."""

    def __call__(self, at_ns: int, amount: int) -> None:
        """Take note of the run's time and of the packets (or bytes) so far."""
        if self._is_due():
            text = self._describe(at_ns / 1e9, amount, self._elapsed())
            self._show(f"{self._where} {self._what}: {text}")


class Counting(_Line):
    """How many of so many things are done."""

    def __init__(self, doing: str, what: str) -> None:
        super().__init__()
        self._doing = doing
        self._what = what

    def __call__(self, done: int, total: int) -> None:
        """Take note that ``done`` of ``total`` are done."""
        if self._is_due():
            left = self._elapsed() * (total - done) / done
            there = f"{count(done)} of {plural(total, self._what)}"
            self._show(f"{self._doing} {there}, {left:.0f} s left")


class Calibrating(_Line):
    """How far a calibration is."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what

    def __call__(self, tries: int, error: float) -> None:
        """Take note of the tries so far, and of the largest error of the last one."""
        if self._is_due():
            self._show(f"{self._what}: try {tries}, off by {error:.0%}")


class Sweeping(_Line):
    """How far a campaign is."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self._where = where
        #: How many runs are done or failed.
        self.ended = 0

    def __call__(self, progress: Progress) -> None:
        """Take note of the runs so far."""
        self.ended = progress.total - progress.left
        if self._is_due():
            self._show(f"{self._where} {swept(progress)}")


def _simulated(at: float, packets: int, elapsed: float) -> str:
    return f"at {at:.1f} s, {count(packets)} packets, {count(round(packets / elapsed))}/s"


def _transferred(at: float, transferred: int, elapsed: float) -> str:
    del elapsed
    return f"at {at:.1f} s, {size(transferred)}"


# What an engine counts, and how it is shown.
DESCRIBED = {"packets": _simulated, "bytes": _transferred}


def line(elapsed: float, done: int, total: int | None) -> str:
    """Say how far it is."""
    rate = size(done / elapsed) + "/s"
    if not total:
        return f"read {size(done)}, {rate}"
    part = min(done / total, 1.0)
    left = elapsed * (1 - part) / part if part else 0.0
    return f"reading {bar(part)} {part:4.0%}  {rate}, {left:.0f} s left"


def swept(progress: Progress) -> str:
    """Say how far a campaign is."""
    ended = progress.total - progress.left
    line = f"{bar(ended / progress.total)} {count(ended)} of {plural(progress.total, 'run')}"
    if progress.rate:
        left = math.ceil(progress.left / progress.rate)
        line += f"  {pace(progress.rate)}, {seconds(left) if left >= 600 else f'{left} s'} left"
    return line + (f", {count(progress.failed)} failed" if progress.failed else "")


def pace(rate: float) -> str:
    """Say how many runs there are in a second, or in a minute where they are few."""
    return f"{figure(rate)}/s" if rate >= 1 else f"{figure(rate * 60)}/min"


def bar(part: float) -> str:
    """Draw a part of the whole."""
    return ("━" * round(part * 30)).ljust(30, "─")
