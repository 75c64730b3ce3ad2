"""How far it is, on the terminal, once it takes longer than a second."""

from __future__ import annotations

import sys
import time

from mptcplab.cli.summary.page import PLAIN, carries
from mptcplab.words.text import count, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

PATIENCE = 1.0
STEP = 0.1


class _Line:
    """A line on standard error that is rewritten in place and gone at the end."""

    def __init__(self) -> None:
        self._begin()
        self._shown = False
        self._terminal = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._clear()

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
        self._print(text if carries(sys.stderr, text) else text.translate(PLAIN))

    def _clear(self) -> None:
        if self._shown:
            self._print("")
            self._shown = False

    def _print(self, text: str) -> None:
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


class Progress(_Line):
    """How far the reading of captures is."""

    def __call__(self, done: int, total: int | None) -> None:
        """Take note that ``done`` bytes of ``total`` were read."""
        if self._is_due():
            self._show(line(self._elapsed(), done, total))


class Running(_Line):
    """How far each run is."""

    def __init__(self, where: str, engine: str) -> None:
        super().__init__()
        self._where = where
        self._tell = _simulated if engine == "simulation" else _transferred
        self._what = ""
        #: How many were there already.
        self.kept = 0

    def begin(self, what: str) -> Running:
        """Take note that the run ``what`` begins."""
        self._what = what
        self._begin()
        return self

    def __call__(self, at_ns: int, amount: int) -> None:
        """Take note of the run's time and of the packets (or bytes) so far."""
        if self._is_due():
            told = self._tell(at_ns / 1e9, amount, self._elapsed())
            self._show(f"{self._where} {self._what}: {told}")

    def done(self, _what: str, there: bool) -> None:
        """Take note that a run is done."""
        self._clear()
        self.kept += there


def _simulated(at: float, packets: int, elapsed: float) -> str:
    return f"at {at:.1f} s, {count(packets)} packets, {count(round(packets / elapsed))}/s"


def _transferred(at: float, transferred: int, elapsed: float) -> str:
    del elapsed
    return f"at {at:.1f} s, {size(transferred)}"


def line(elapsed: float, done: int, total: int | None) -> str:
    """Say how far it is."""
    rate = size(done / elapsed) + "/s"
    if not total:
        return f"read {size(done)}, {rate}"
    part = min(done / total, 1.0)
    bar = ("━" * round(part * 30)).ljust(30, "─")
    left = elapsed * (1 - part) / part if part else 0.0
    return f"reading {bar} {part:4.0%}  {rate}, {left:.0f} s left"
