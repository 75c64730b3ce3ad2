"""Ctrl-C while the command is imported: it ends without a traceback.

Imported first. Programs that import the package keep their own handlers.
"""

from __future__ import annotations

import os
import signal
import sys
from itertools import pairwise
from types import FrameType

# As a shell reports a program that Ctrl-C ended.
INTERRUPTED = 128 + signal.SIGINT


def is_over() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_number: int, _frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _is_command() -> bool:
    script = os.path.basename(sys.argv[0]) if sys.argv else ""  # noqa: PTH119 - pathlib is slow
    return script in {"mptcplab", "mptcplab.exe"} or ("-m", "mptcplab") in pairwise(sys.orig_argv)


# Our parent may have set the signal to be ignored.
if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end)
