"""How far the reading is, on the terminal, once it takes longer than a second."""

from __future__ import annotations

import sys
import time

from mptcplab.cli.summary.page import PLAIN, carries
from mptcplab.cli.summary.text import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

PATIENCE = 1.0
STEP = 0.1


class Progress:
    """A line on standard error that is rewritten in place and gone at the end."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._due = self._begun + PATIENCE
        self._shown = False
        self._terminal = sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            self._print("")

    def __call__(self, done: int, total: int | None) -> None:
        """Take note that ``done`` bytes of ``total`` were read."""
        now = time.monotonic()
        if not self._terminal or now < self._due:
            return
        self._due = now + STEP
        self._shown = True
        text = line(now - self._begun, done, total)
        self._print(text if carries(sys.stderr, text) else text.translate(PLAIN))

    def _print(self, text: str) -> None:
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def line(elapsed: float, done: int, total: int | None) -> str:
    """Say how far it is."""
    rate = size(done / elapsed) + "/s"
    if not total:
        return f"read {size(done)}, {rate}"
    part = min(done / total, 1.0)
    bar = ("━" * round(part * 30)).ljust(30, "─")
    left = elapsed * (1 - part) / part if part else 0.0
    return f"reading {bar} {part:4.0%}  {rate}, {left:.0f} s left"
