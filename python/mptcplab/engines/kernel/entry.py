"""Starts a program in namespaces: of a user, mounts, processes, and a host's network.

``entry.py NAMESPACES COMMAND...`` is a process of its own since only a lone thread may enter them
all. NAMESPACES are the numbers of open files, in the order in which they are entered. The program
is on the terminal that we are on; its exit status is ours. It uses nothing but the standard
library.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

INPUT = 0
# As shells say it.
NOT_FOUND, NOT_STARTED, INTERRUPTED = 127, 126, 130


def main() -> None:
    """Enter, start, wait."""
    namespaces, *command = sys.argv[1:]
    here = Path.cwd()
    libc = ctypes.CDLL(None, use_errno=True)
    for namespace in namespaces.split(","):
        if libc.setns(int(namespace), 0):
            sys.exit(f"mptcplab: cannot enter the lab: {os.strerror(ctypes.get_errno())}")
        os.close(int(namespace))
    # The lab's mounts are others than those where we were.
    with suppress(OSError):
        os.chdir(here)
    terminal = Terminal()
    # From the fork on it is in the lab's namespace of processes.
    child = os.fork()
    if child == 0:
        _become(command, terminal)
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTTOU):
        signal.signal(number, signal.SIG_IGN)
    while os.WIFSTOPPED(status := os.waitpid(child, os.WUNTRACED)[1]):
        terminal.stop_with(child)
    code = os.waitstatus_to_exitcode(status)
    sys.exit(code if code >= 0 else 128 - code)


class Terminal:
    """The terminal that we are on, if we are: its foreground is the program's, as of a job.

    The process group is one of the program's own since shells want to know the number of theirs,
    which ours does not have in the lab's namespace of processes.
    """

    def __init__(self) -> None:
        self._ours = os.getpgrp()
        self._is_ours = self._is_foreground()

    def take(self) -> None:
        """Have it: we are the program to be."""
        if self._is_ours:
            os.setpgid(0, 0)
            before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            os.tcsetpgrp(INPUT, os.getpid())
            signal.signal(signal.SIGTTOU, before)

    def stop_with(self, child: int) -> None:
        """Stop as the program did, with the whole job; continue when it is continued."""
        if self._is_ours:
            os.tcsetpgrp(INPUT, self._ours)
        os.kill(0, signal.SIGSTOP)
        if self._is_ours and self._is_foreground():
            os.tcsetpgrp(INPUT, child)
        os.killpg(os.getpgid(child), signal.SIGCONT)

    def _is_foreground(self) -> bool:
        try:
            return os.tcgetpgrp(INPUT) == self._ours
        except OSError:
            return False


def _become(command: list[str], terminal: Terminal) -> None:
    try:
        terminal.take()
        os.execvp(command[0], command)  # noqa: S606 - it is what the user wants
    except OSError as error:
        print(f"mptcplab: cannot start {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(NOT_FOUND if error.errno == errno.ENOENT else NOT_STARTED)
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
