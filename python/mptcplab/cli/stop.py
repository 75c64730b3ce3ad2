"""Ctrl-C while standard input is read: the first ends the reading, the second quits."""

from __future__ import annotations

import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, TracebackType


class Stop:
    """Says whether to stop reading. In ``a | b`` Ctrl-C reaches both: what a wrote counts."""

    def __init__(self, *, live: bool) -> None:
        # Whoever started us may want us to sit out the signal.
        self._wanted = live and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        self._asked = self._told = False

    def __enter__(self) -> Stop:
        if self._wanted:
            signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._wanted:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def __call__(self) -> bool:
        """Say whether to stop reading."""
        if self._asked and not self._told:
            self._told = True
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
