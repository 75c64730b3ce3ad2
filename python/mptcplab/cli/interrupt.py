"""SIGTERM and SIGHUP end a command as Ctrl-C does: what is half done goes, and a line says so."""

from __future__ import annotations

import signal
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
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
