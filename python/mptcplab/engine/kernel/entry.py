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
    # From the fork on it is in the lab's namespace of processes.
    child = os.fork()
    if child == 0:
        _become(command)
    # What is typed on the terminal is the program's: it may live on.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    sys.exit(status if status >= 0 else 128 - status)


def _become(command: list[str]) -> None:
    try:
        os.execvp(command[0], command)  # noqa: S606 - it is what the user wants
    except OSError as error:
        print(f"mptcplab: cannot start {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(NOT_FOUND if error.errno == errno.ENOENT else NOT_STARTED)
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
