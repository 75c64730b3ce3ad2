"""When the machine itself stood still: a virtual one does where its host gives the cores to others.

A thread on every core that may have it before anybody else sleeps for a short time, again and again. What makes it wake
late made everybody late, whatever the program that is measured does.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

SLEEP_NS = 500_000
# Later than this is a pause.
LATE_NS = 200_000
PRIORITY = 50


@dataclass
class Pauses:
    """Watches while it is entered; afterwards it knows when nobody was awake."""

    #: Beginning and end, in ns since 1970, of each pause of a core.
    found: list[tuple[int, int]] = field(default_factory=list)
    _watches: list[subprocess.Popen[str]] = field(default_factory=list)

    def __enter__(self) -> Self:
        for core in sorted(os.sched_getaffinity(0)):
            command = [sys.executable, __file__, str(core)]
            watch = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            self._watches.append(watch)
            assert watch.stdout is not None
            watch.stdout.readline()
        return self

    def __exit__(self, *_: object) -> None:
        for watch in self._watches:
            watch.send_signal(signal.SIGTERM)
            self.found += [(begun, ended) for begun, ended in json.loads(watch.communicate()[0])]

    def between(self, begun_ns: int, ended_ns: int) -> bool:
        """Whether a core stood still at some moment between these."""
        return any(begun < ended_ns and begun_ns < ended for begun, ended in self.found)


def watch(core: int) -> None:
    os.sched_setaffinity(0, {core})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    going = True

    def end(*_: object) -> None:
        nonlocal going
        going = False

    signal.signal(signal.SIGTERM, end)
    print("ready", flush=True)
    found = []
    while going:
        due = time.time_ns() + SLEEP_NS
        time.sleep(SLEEP_NS / 1e9)
        if (now := time.time_ns()) - due > LATE_NS:
            found.append((due, now))
    print(json.dumps(found))


if __name__ == "__main__":
    watch(int(sys.argv[1]))
