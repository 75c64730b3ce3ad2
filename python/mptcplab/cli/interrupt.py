"""SIGTERM and SIGHUP end a command as Ctrl-C does; while reading, Ctrl-C ends that first."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

NUMBERS = (signal.SIGTERM, signal.SIGHUP)
# As a shell reports a program that a signal ended.
STATUS = 128


@contextmanager
def by_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt, with the signal's number, where one would kill us."""
    ours = [number for number in NUMBERS if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def status(interrupt: KeyboardInterrupt) -> int:
    """Give the exit status; Ctrl-C has no number with it."""
    return STATUS + (interrupt.args[0] if interrupt.args else signal.SIGINT)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt(number)


class Stop:
    """Says whether to stop reading. In ``a | b`` Ctrl-C reaches both: what a wrote counts."""

    def __init__(self, *, live: bool) -> None:
        # Our parent may have set the signal to be ignored.
        self._wanted = live and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        self._asked = self._announced = False

    def __enter__(self) -> Stop:
        if self._wanted:
            signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        if self._wanted:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def __call__(self) -> bool:
        """Say whether to stop reading."""
        if self._asked and not self._announced:
            self._announced = True
            clear = "\r\x1b[K" if sys.stderr.isatty() else ""
            print(
                f"{clear}mptcplab: interrupted; analysing what has come (Ctrl-C again quits)",
                file=sys.stderr,
                flush=True,
            )
        return self._asked

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self._asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
