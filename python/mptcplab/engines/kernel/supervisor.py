"""The supervisor: ends the sandbox, and cleans up after the engine, whichever is killed.

``python -m mptcplab.engines.kernel.supervisor LIFE ENGINE DIRECTORY COMMAND...`` starts a command,
whose standard streams are its own. Its standard output ends when the command and all that came of
it are gone. LIFE is the reading end of a pipe: ``KILL`` ends the command, ``DONE`` the supervisor
too. After ``FAILED``, or without a word when the engine is killed, the run directories in DIRECTORY
that nobody holds go too. ENGINE is a file descriptor of the engine's process.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

KILL, DONE, FAILED = b"k", b"d", b"f"
# linux/prctl.h
PR_SET_CHILD_SUBREAPER = 36
# Before all other sessions, where sessions share the processors (sched(7), autogroup): the priority
# of the emulator's threads counts only within theirs.
NICE = -20


def main() -> None:
    """Supervise."""
    life, engine, directory, command = *map(int, sys.argv[1:3]), Path(sys.argv[3]), sys.argv[4:]
    # Children of unshare become ours when unshare is gone.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # Not every user may, and not every kernel has it.
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(NICE), "ascii")
    # In a group of their own: between its fork and what binds the fork's life to its own, unshare
    # may die without its child.
    child = subprocess.Popen(command, process_group=0)  # noqa: S603 - the engine's own
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, sys.stdin.fileno())
    ended = os.pidfd_open(child.pid)
    watched = [life, ended]
    request = KILL
    while request == KILL:
        ready, _, _ = select.select(watched, [], [])
        if ended in ready:
            _end(child.pid)
            os.dup2(null, sys.stdout.fileno())
            watched.remove(ended)
        if life in ready:
            request = os.read(life, 1)
            if ended in watched:
                os.killpg(child.pid, signal.SIGKILL)
    if ended in watched:
        _end(child.pid)
    if not request:
        # A process that is being killed may close the pipe before the run directory.
        select.select([engine], [], [])
    if request != DONE:
        from mptcplab.writing import sweep

        sweep(directory)


def _end(group: int) -> None:
    """Kill the rest, and wait: the first process of a PID namespace ends last."""
    os.killpg(group, signal.SIGKILL)
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass


if __name__ == "__main__":
    main()
